"""What a rater's page receives of an item."""

import pytest

from impactbench.domain import MetricDefinition, Polarity
from reviews.blinding import HIDDEN_NAME, ask, blind_turns, names_to_hide

MODELS = [("corvid-7", "corvid", "Halden Works"), ("tansy-2-large", "tansy", "Northfold")]


def shown(text: str) -> str:
    (turn,) = blind_turns([{"role": "user", "content": text}], hidden_names=names_to_hide(MODELS))
    return turn.text


@pytest.mark.parametrize(
    ("said", "masked"),
    [
        ("I'm Corvid, made by Halden Works.", f"I'm {HIDDEN_NAME}, made by {HIDDEN_NAME}."),
        ("CORVID 7 here", f"{HIDDEN_NAME} here"),
        ("corvid7 or corvid-7", f"{HIDDEN_NAME} or {HIDDEN_NAME}"),
        ("as Tansy-2 Large", f"as {HIDDEN_NAME}"),
        ("HaldenWorks built me", f"{HIDDEN_NAME} built me"),
        ("the corvids in the garden", "the corvids in the garden"),
        ("northfolders", "northfolders"),
        ("nothing to see", "nothing to see"),
    ],
)
def test_names_of_models_and_makers_are_hidden_in_any_spelling(said: str, masked: str) -> None:
    assert shown(said) == masked


def test_short_and_unknown_names_hide_no_ordinary_words() -> None:
    assert names_to_hide([("o3", "unknown", "")]) == set()


def test_a_message_and_its_reply_share_a_number() -> None:
    turns = [{"role": role, "content": "x"} for role in ("user", "assistant") * 3]
    assert [(turn.number, turn.speaker) for turn in blind_turns(turns, hidden_names=[])] == [
        (number, speaker) for number in (1, 2, 3) for speaker in ("Person", "Chatbot")
    ]


@pytest.mark.parametrize(
    ("polarity", "passing"), [(Polarity.POSITIVE, "does this"), (Polarity.NEGATIVE, "does not")]
)
def test_polarity_becomes_what_passes_and_is_never_named(polarity: Polarity, passing: str) -> None:
    asked = ask(MetricDefinition(name="n", polarity=polarity, definition="The chatbot sings."))
    assert passing in asked.pass_means
    assert not any(word in asked.model_dump_json().lower() for word in ("polarity", "positive", "negative"))
