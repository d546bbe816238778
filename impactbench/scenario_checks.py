"""Whether a base scenario is neutral: no age, no gender, no ethnicity. A lexicon, on word boundaries.

It errs on the side of finding: a scenario is written anew, which costs one call. Words that mostly mean something else
("may", "black coffee") are only found in the company that gives them the other meaning.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Mention:
    """A trait that a text tells, and the words that tell it."""

    trait: str
    words: str


_PEOPLE = r"(?:person|people|user|student|worker|man|woman|men|women|boy|girl|parent|mother|father|couple|family|families|community|adult|teen)"

_AGE = (
    r"\b(?:\d{1,3}|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen|twenty|thirty|forty|fifty|sixty)"
    r"[- ]?years?[- ]olds?\b",
    r"\b(?:aged?|turn(?:s|ed|ing)?)\s(?:of\s)?(?:\d{1,3}|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen|twenty|thirty|forty|fifty|sixty)\b(?!\s?(?:minutes|hours|days|weeks|months|pages|percent|times|%|degrees))",
    r"\b(?:in|into) (?:their|his|her|my) (?:early |mid|late |mid-)?[- ]?(?:teens|twenties|thirties|forties|fifties|sixties|seventies|\d0s)\b",
    r"\b(?:teen|teens|teenage|teenaged|teenagers?|adolescents?|adolescence|tweens?|toddlers?|underage|minors)\b",
    r"\b(?:young(?:er)?|elderly|middle[- ]aged|old(?:er)?|adult) " + _PEOPLE + r"\b",
    r"\b(?:adults?|youths?|youngsters?|seniors?|pensioners?|retirees?|retired|boomers?|millennials?|gen[- ]?(?:z|x|alpha))\b",
    r"\b(?:high|middle|elementary|primary|secondary|grade)[- ]school(?:er|ers)?\b",
    r"\b(?:\d{1,2}(?:st|nd|rd|th)|first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|eleventh|twelfth)[- ]grade(?:r|rs)?\b",
    r"\b(?:freshm[ae]n|sophomores?|kindergart\w+|undergraduates?)\b",
)
_GENDER = (
    r"\b(?:he|she|him|his|hers|himself|herself|her)\b",
    r"\b(?:m[ae]n|wom[ae]n|males?|females?|boys?|girls?|gentlem[ae]n|lad(?:y|ies)|guys?)\b",
    r"\b(?:boyfriends?|girlfriends?|husbands?|wi(?:fe|ves)|mothers?|fathers?|moms?|mums?|dads?|sons?|daughters?|brothers?|sisters?"
    r"|grandmothers?|grandfathers?|aunts?|uncles?|widows?|widowers?)\b",
    r"\b(?:trans(?:gender)?|non-?binary|cis(?:gender)?|masculine|feminine|gay|lesbian|bisexual|pregnan(?:t|cy))\b",
    r"\b(?:mr|mrs|ms|mister|sir|madam)\b\.?",
)
_ETHNICITY = (
    r"\b(?:black|white|brown) " + _PEOPLE + r"\b",
    r"\b(?:african|asian|european|latin|native|arab|hispanic|mexican|chinese|japanese|korean|indian|pakistani|turkish|polish|russian|american"
    r"|british|french|german|italian|spanish|nigerian|vietnamese|filipin[oa]|brazilian|iranian|persian|somali|syrian|ukrainian)"
    r"(?:[- ]american)?s? " + _PEOPLE + r"\b",
    r"\b(?:african|asian|mexican|native|arab|latin)[- ]americans?\b",
    r"\b(?:hispanics?|latin[oax]s?|latine|caucasians?|arabs?|muslims?|jew(?:s|ish)?|christians?|catholics?|hindus?|buddhists?|sikhs?)\b",
    r"\b(?:ethnic(?:ity|ities)?|racial|immigrants?|refugees?|expats?|indigenous|aboriginal|first[- ]generation|people of colou?r)\b",
    r"\b(?:mosque|synagogue|quinceañera|ramadan|bar mitzvah)\b",
)
_TRAITS: Mapping[str, tuple[str, ...]] = {"age": _AGE, "gender": _GENDER, "ethnicity": _ETHNICITY}
_PATTERNS = {
    trait: re.compile("|".join(f"(?:{pattern})" for pattern in patterns), re.IGNORECASE)
    for trait, patterns in _TRAITS.items()
}


def find_traits(text: str) -> list[Mention]:
    """Where a text tells age, gender or ethnicity, in the order of the traits.

    >>> find_traits("A 16-year-old who asks whether she should call.")
    [Mention(trait='age', words='16-year-old'), Mention(trait='gender', words='she')]
    >>> find_traits("They drink black coffee and may turn 20 pages before they answer their manager.")
    []
    """
    return [
        Mention(trait=trait, words=found.group())
        for trait, pattern in _PATTERNS.items()
        for found in pattern.finditer(text)
    ]


def find_other_traits(text: str) -> list[Mention]:
    """The same for an age variant, whose age is meant: gender and ethnicity."""
    return [mention for mention in find_traits(text) if mention.trait != "age"]


def tells_age(text: str, *, teen: bool) -> bool:
    """Whether a persona says that it is a teenager (13 to 17), or an adult (18 and over).

    >>> tells_age("A person of 15 who lives at home.", teen=True)
    True
    >>> tells_age("A 34-year-old who rents a flat.", teen=True)
    False
    """
    if teen:
        return bool(_TEEN.search(text)) and not _GROWN.search(text)
    return bool(_GROWN.search(text)) and not _TEEN.search(text)


_TEEN = re.compile(
    r"\b(?:1[3-7]|thirteen|fourteen|fifteen|sixteen|seventeen|teen(?:age|aged|ager)?)\b", re.IGNORECASE
)
_GROWN = re.compile(
    r"\b(?:1[89]|[2-9]\d|adult|(?:early |mid|late )?[- ]?(?:twenties|thirties|forties|fifties|sixties)|eighteen|nineteen|twenty(?:-\w+)?"
    r"|thirty(?:-\w+)?|forty(?:-\w+)?|fifty(?:-\w+)?|sixty(?:-\w+)?)\b",
    re.IGNORECASE,
)
