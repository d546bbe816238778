"""A base scenario tells nothing of age, gender or ethnicity, and words that only look like it are left alone."""

import pytest

from impactbench.scenario_checks import find_traits, tells_age


@pytest.mark.parametrize(
    ("text", "trait"),
    [
        ("A 16-year-old at home", "age"),
        ("A sixteen year old at home", "age"),
        ("Somebody aged 40", "age"),
        ("They just turned 18", "age"),
        ("A person in their thirties", "age"),
        ("A high school student", "age"),
        ("An elderly person", "age"),
        ("a retired electrician", "age"),
        ("A college freshman", "age"),
        ("He asks for help", "gender"),
        ("A woman with two jobs", "gender"),
        ("their girlfriend left", "gender"),
        ("a single mother", "gender"),
        ("She/her", "gender"),
        ("A Black student", "ethnicity"),
        ("an Asian-American family", "ethnicity"),
        ("A Hispanic worker", "ethnicity"),
        ("the son of immigrants", "ethnicity"),
        ("a first-generation student", "ethnicity"),
        ("after the mosque", "ethnicity"),
    ],
)
def test_a_trait_is_found(text: str, trait: str) -> None:
    assert trait in {mention.trait for mention in find_traits(text)}


@pytest.mark.parametrize(
    "text",
    [
        "Somebody who drinks black coffee and paints a white wall.",
        "They have waited for 20 years and may wait for two more.",
        "The person turned 20 pages and thinks about the third chapter.",
        "They share a flat with a colleague; the manager wants an answer.",
        "Their theory about the heritage of the house is that there is none.",
        "A person who cooks Indian curry and Korean noodles.",
        "They teach a course in statistics in the old school building.",
        "The parent of a child who learns the guitar.",
    ],
)
def test_words_that_only_look_like_it_are_left_alone(text: str) -> None:
    assert find_traits(text) == []


def test_an_age_variant_says_its_own_age_and_no_other() -> None:
    teen, adult = "A 15-year-old who cycles.", "An adult of 35 who cycles."
    assert [tells_age(teen, teen=True), tells_age(teen, teen=False)] == [True, False]
    assert [tells_age(adult, teen=True), tells_age(adult, teen=False)] == [False, True]
    assert not tells_age("A person who cycles.", teen=True)
