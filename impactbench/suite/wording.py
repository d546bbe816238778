"""What the words of a metric give away: two behaviours in one, what cannot be observed, an avoidance in disguise.

These are rules on words and not on meaning. Each was tried on several hundred metrics written by others; where a rule was
wrong more often than right on them, it was narrowed. docs/suite.md says how often they err.
"""

import re
from collections.abc import Iterator

_VERB = (
    r"acknowledges|acts|adapts|addresses|adds|admits|advises|affirms|agrees|allows|answers|applies|"
    r"argues|asks|asserts|assigns|assumes|assures|avoids|begins|belittles|blames|brings|calls|"
    r"challenges|changes|checks|cites|clarifies|closes|compares|concludes|confirms|connects|"
    r"considers|contradicts|corrects|creates|criticizes|decides|declines|defines|delivers|"
    r"demonstrates|denies|describes|directs|disagrees|discloses|discourages|dismisses|displays|"
    r"disputes|distinguishes|does|encourages|engages|ensures|establishes|evaluates|exaggerates|"
    r"examines|explains|explores|expresses|fabricates|focuses|frames|gives|guides|helps|highlights|"
    r"identifies|offers|ignores|illustrates|includes|indicates|informs|insists|instructs|integrates|"
    r"interprets|introduces|invents|invites|issues|justifies|keeps|lays|lets|lists|maintains|makes|"
    r"mentions|minimizes|mocks|moves|notes|notifies|omits|opens|outlines|performs|points|portrays|"
    r"praises|predicts|presents|presses|prioritizes|promises|promotes|prompts|proposes|provides|"
    r"pushes|puts|reassures|recommends|redirects|refers|reflects|refrains|refuses|rejects|reminds|"
    r"repeats|replaces|replies|reports|requests|respects|responds|restates|reveals|reverses|says|"
    r"shames|shares|shifts|shows|specifies|speaks|states|steers|stops|suggests|summarizes|supplies|"
    r"supports|takes|teaches|tells|threatens|treats|uses|validates|verifies|volunteers|warns|"
    r"weighs|withholds|writes"
)
_ADVERB = r"(?:also|then|explicitly|clearly|directly|actively|\w+ly)"
_JOINED = re.compile(
    rf"(?P<before>[\w'’-]+)[,;]?\s+(?P<joined>(?:and|as well as|while also|plus)\s+(?:{_ADVERB}\s+){{0,2}}(?:{_VERB}))\b",
    re.IGNORECASE,
)
_ONE_ACT = re.compile(rf"(?:\w+ly|{_VERB}|recognizes|employs)$", re.IGNORECASE)
"""Before the joining word: an adverb, or a verb that shares its object with the next (acknowledges and accepts)."""
_BESIDES = re.compile(
    rf"\b(?:in addition|additionally|furthermore|moreover),?\s+(?:it\s+)?(?:{_VERB})\b", re.I
)
_CONDITION = re.compile(
    r"^\s*(?:when|whenever|if|after|before|once|where|while|for|on|with|faced|asked|given|upon|in|during)\b[^,.]*,\s*",
    re.IGNORECASE,
)
_RELATIVE = re.compile(r"\b(?:who|whose|whom)\b[^,.;]*", re.IGNORECASE)

_SUBJECT = r"(?:the\s+)?(?:chatbot|model|assistant|AI|system|response|bot|it)"
_MIND = r"(?:wants|intends|means|feels|cares|believes|thinks|knows|hopes|wishes|understands|desires|tries|aims|seeks)"
_MINDED = re.compile(
    rf"(?:^\s*(?:{_ADVERB}\s+)?|\b{_SUBJECT}\s+(?:{_ADVERB}\s+)?){_MIND}\b|"
    r"\b(?:in order|with the (?:aim|goal|intent|intention)|intend(?:s|ed|ing)|its (?:intent|intention|motive|feelings?))\b"
    r"(?:\s+(?:to|of)\s+\w+)?",
    re.IGNORECASE,
)
_SINCERE = re.compile(
    r"\b(?:genuine|sincere|true|real)(?:ly)?\s+(?:\w+\s+)?"
    r"(?:cares?|caring|concern|interest(?:ed)?|empathy|warmth|compassion|understands|understanding|listens)\b",
    re.IGNORECASE,
)
_EFFECT = re.compile(
    r"\b(?:mak(?:es|ing)|leav(?:es|ing)|help(?:s|ing))\s+(?:the\s+)?(?:user|person|them|people)\s+(?:to\s+)?feel\b|"
    r"\b(?:increas|improv|deepen|enhanc|strengthen|rais|lower|reduc)(?:es|ing|s|e)\b[^.;]{0,40}"
    r"\b(?:user|person|people)(?:'s|s')\b|"
    r"\bwould (?:plausibly|likely)\b",
    re.IGNORECASE,
)
_VAGUE = re.compile(
    r"(?<!to provide )\b(?:(?:in)?appropriate(?:ly)?|(?:in)?adequate(?:ly)?|proper(?:ly)?|suitabl[ey]|sufficiently|"
    r"meaningful(?:ly)?|effectively|high[- ]quality|as needed)\b",
    re.IGNORECASE,
)
_AVOIDING = (
    r"(?:avoid(?:s|ing)?|refrain(?:s|ing)?|fail(?:s|ing|ure)?\b|(?:does|do|did|is|are|has|have) not\b|"
    r"(?:do|does|did|is|are)n['’]t\b|never\b|not\b|no\b|neglects?|omits?|lack(?:s|ing)?|misses\b|without\b|withholds?|"
    r"forgets?|skips?)"
)
_AVOIDS = re.compile(rf"^\s*(?:{_SUBJECT}\s+)?(?:{_ADVERB}\s+)?{_AVOIDING}", re.IGNORECASE)


def second_behaviour(definition: str) -> str:
    """The words that join a second behaviour to the first; empty where there is one.

    >>> second_behaviour("The chatbot asks for reasons and offers two options.")
    'and offers'
    >>> second_behaviour("The chatbot asks what the person wants and fears.")
    ''
    """
    for sentence in _sentences(definition):
        plain = _RELATIVE.sub(" ", _CONDITION.sub("", sentence))
        for found in _JOINED.finditer(plain):
            if not _ONE_ACT.match(found["before"]):
                return " ".join(found["joined"].split())
        if besides := _BESIDES.search(plain):
            return " ".join(besides.group().split())
    return ""


def unobservable(definition: str) -> tuple[str, str]:
    """The words for what no transcript shows, and what they are about; both empty where there are none.

    >>> unobservable("The chatbot genuinely cares about the person.")
    ('The chatbot genuinely cares', 'what goes on in the model')
    >>> unobservable("The chatbot asks how the person feels.")
    ('', '')
    """
    kinds = (
        (_MINDED, "what goes on in the model"),
        (_SINCERE, "what goes on in the model"),
        (_EFFECT, "what the person feels or becomes afterwards"),
        (_VAGUE, "a standard that it does not state"),
    )
    for sentence in _sentences(definition):
        for pattern, about in kinds:
            if found := pattern.search(sentence):
                return found.group().strip(), about
    return "", ""


def avoidance(text: str) -> str:
    """The words by which a behaviour is put as something not done; empty where it is something done.

    >>> avoidance("The chatbot fails to mention the risk."), avoidance("Leaves the risk out of its advice")
    ('The chatbot fails', '')
    """
    found = _AVOIDS.search(_CONDITION.sub("", text))
    return found.group().strip() if found else ""


def count_sentences(text: str) -> int:
    """How many sentences a text has.

    >>> count_sentences('It counts. "Are you safe?" alone does not.')
    2
    """
    return sum(1 for _ in _sentences(text))


def _sentences(text: str) -> Iterator[str]:
    for part in re.split(r"(?<=[.!?])\s+(?=[A-Z\"“'])", text.strip()):
        if part.strip():
            yield part
