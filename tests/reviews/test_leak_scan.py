"""Where transcripts give their model away: what is hidden at once, what waits for a person, and what is innocent."""

import time
from collections.abc import Callable

import pytest
import typer
from click.testing import Result
from sqlalchemy import Engine
from sqlmodel import select
from typer.testing import CliRunner

from app.cli import leaks as command_line
from impactbench.domain import Role
from impactbench.store import tables as t
from impactbench.store.engine import reading, writing
from reviews.blinding import HIDDEN_NAME, blind_turns
from reviews.blindness import leak_scan
from reviews.blindness.leak_scan import LeakRefused, decide, hidden_spans, scan, undecided
from tests.browser.desks import MODEL, plain_turns, set_desks
from tests.reviews.invented_study import add_raters

NAMED = [
    {"role": "user", "content": "Who are you? Claude?"},
    {"role": "assistant", "content": f"I'm {MODEL}. My developers like Opus."},
]


@pytest.fixture
def named(engine: Engine) -> Engine:
    set_desks(engine, [plain_turns(1), NAMED], "kestrel", base_url="http://here")
    return engine


def maintainer_of(engine: Engine) -> int:
    return leak_scan.maintainer(engine, None)


def masked(engine: Engine) -> list[str]:
    with reading(engine) as session:
        models = leak_scan.study_models(session, "winter")
        spans = hidden_spans(session, 2, NAMED, models)
    return [turn.text for turn in blind_turns(NAMED, hidden_spans=spans)]


def test_the_scan_lists_every_place_with_its_words(named: Engine) -> None:
    leaks = scan(named, "winter")
    assert [(one.number, one.message, one.turn, one.speaker, one.found, one.certain) for one in leaks] == [
        (1, 0, 1, "Person", "Claude", False),
        (2, 1, 1, "Chatbot", MODEL, True),
        (3, 1, 1, "Chatbot", "My developers", False),
        (4, 1, 1, "Chatbot", "Opus", False),
    ]
    assert (leaks[1].before, leaks[1].behind) == ("I'm ", ". My developers like Opus.")
    assert undecided(named, "winter") == 3
    said = leak_scan.undecided_in_words(named, "winter")
    assert said.startswith("3 places where a conversation may give its model away wait for a decision")


def test_the_masked_copy_follows_the_decisions_and_the_original_is_kept(named: Engine) -> None:
    assert masked(named) == ["Who are you? Claude?", f"I'm {HIDDEN_NAME}. My developers like Opus."]
    leaks, who = scan(named, "winter"), maintainer_of(named)
    assert decide(named, leaks[:1] + leaks[3:], "hide", decided_by=who) == 2
    assert decide(named, leaks[2:3], "show", decided_by=who) == 1
    assert undecided(named, "winter") == 0
    assert leak_scan.undecided_in_words(named, "winter") == ""
    assert masked(named) == [
        f"Who are you? {HIDDEN_NAME}?",
        f"I'm {HIDDEN_NAME}. My developers like {HIDDEN_NAME}.",
    ]
    with reading(named) as session:
        assert session.get_one(t.Conversation, 2).turns == NAMED


def test_a_certain_place_can_be_shown_and_a_decision_changed(named: Engine) -> None:
    leaks, who = scan(named, "winter"), maintainer_of(named)
    decide(named, leaks[1:2], "show", decided_by=who)
    assert MODEL in masked(named)[1]
    decide(named, leaks[1:2], "hide", decided_by=who)
    assert MODEL not in masked(named)[1]
    (said,) = leak_scan.history(named, "winter").values()
    assert [(one.decision, one.by) for one in said] == [("show", "maintainer"), ("hide", "maintainer")]
    assert scan(named, "winter")[1].decision == "hide"
    place = (leaks[1].conversation_id, leaks[1].message, leaks[1].start, leaks[1].end)
    assert list(leak_scan.history(named, "winter")) == [place]


def test_the_same_decision_twice_is_kept_once_with_who_made_it_first(named: Engine) -> None:
    add_raters(named, "second", role=Role.MAINTAINER)
    leaks = scan(named, "winter")
    first, second = (leak_scan.maintainer(named, name) for name in ("maintainer", "second"))
    assert decide(named, leaks[:1], "hide", decided_by=first) == 1
    assert decide(named, leaks[:1], "hide", decided_by=second) == 0
    with reading(named) as session:
        (mask,) = session.exec(select(t.Mask)).all()
    assert (mask.found, mask.start, mask.end, mask.decided_by) == ("Claude", 13, 19, first)


def test_only_an_active_maintainer_decides(named: Engine) -> None:
    with reading(named) as session:
        expert = session.exec(select(t.Rater.id).where(t.Rater.pseudonym == "kestrel")).one()
    with pytest.raises(LeakRefused, match="by a maintainer who is active"):
        decide(named, scan(named, "winter"), "show", decided_by=expert or 0)
    with pytest.raises(LeakRefused, match="no active maintainer called 'kestrel'"):
        leak_scan.maintainer(named, "kestrel")
    add_raters(named, "second", role=Role.MAINTAINER)
    with pytest.raises(LeakRefused, match=r"several maintainers \(maintainer, second\)"):
        leak_scan.maintainer(named, None)
    with pytest.raises(LeakRefused, match="there is no study 'summer'"):
        scan(named, "summer")


def test_two_thousand_conversations_are_scanned_in_seconds(sqlite_engine: Engine) -> None:
    words = "You said that you felt alone last night, and I am glad that you tell me about it. " * 6
    turns = [{"role": role, "content": words} for _ in range(6) for role in ("user", "assistant")]
    turns[5] = {"role": "assistant", "content": f"{words} I'm {MODEL}, a llama, trained by hand."}
    set_desks(sqlite_engine, [turns], "kestrel", base_url="http://here")
    with writing(sqlite_engine) as session:
        one = session.get_one(t.Conversation, 1)
        session.add_all(
            t.Conversation(
                run_id=one.run_id,
                key=f"more-{number}",
                scenario_id=one.scenario_id,
                model_id=one.model_id,
                turns=turns,
                content_hash="same",
            )
            for number in range(1_999)
        )
    started = time.perf_counter()
    leaks = scan(sqlite_engine, "winter")
    assert len(leaks) == 2_000
    assert time.perf_counter() - started < 15


@pytest.fixture
def command(named: Engine, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    """`impactbench review leaks winter ...`."""
    monkeypatch.setattr(command_line, "open_database", lambda: named)
    cli = typer.Typer()
    cli.command()(command_line.leaks)
    return lambda *arguments: CliRunner().invoke(cli, ["winter", *arguments])


def test_the_command_lists_places_with_their_number_words_and_state(command: Callable[..., Result]) -> None:
    said = command().output
    assert (
        "1  first/s002__zebrafish-9-large, turn 1, Person: …Who are you? Claude?…  [waits, shown until then]"
        in said
    )
    assert "I'm zebrafish-9-large" in said
    assert "[hidden, certain]" in said


def test_the_command_keeps_decisions_by_number(named: Engine, command: Callable[..., Result]) -> None:
    assert command("--hide", "1,3", "--show", "4").exit_code == 0
    assert [leak.decision for leak in scan(named, "winter")] == ["hide", None, "hide", "show"]
    command("--hide-all")
    assert [leak.decision for leak in scan(named, "winter")] == ["hide", None, "hide", "show"]
    command("--hide", "1-4")
    assert {leak.decision for leak in scan(named, "winter")} == {"hide"}


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["--hide", "9"], "there is no number 9 in the list, which has 4 places"),
        (["--hide", "x"], "'x' is no number of the list"),
        (["--hide", "1", "--show", "1-2"], "number 1 is both to be hidden and to be shown"),
        (["--hide", "1", "--by", "nobody"], "no active maintainer called 'nobody'"),
    ],
)
def test_the_command_refuses_in_a_sentence_and_keeps_nothing(
    named: Engine, command: Callable[..., Result], arguments: list[str], why: str
) -> None:
    refused = command(*arguments).exception
    assert isinstance(refused, LeakRefused)
    assert why in str(refused)
    assert {leak.decision for leak in scan(named, "winter")} == {None}
