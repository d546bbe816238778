"""A metric that is edited gets a version: what depends on the edit is made again, and nothing else."""

import pytest
from sqlalchemy import Engine

from impactbench.metrics import Suite, SuiteMetric
from impactbench.providers.scripted import Scripted
from impactbench.runs.version_log import version_log, write_version_log
from impactbench.store import frames
from tests.impactbench.runs.invented_run import answer, metric, plan, play, suite


def edited(**changes: object) -> Suite:
    asks = metric("asks")
    definition = asks.definition.model_copy(update=changes)
    return suite(SuiteMetric(**{**dict(asks), "definition": definition}), metric("presses"))


@pytest.mark.parametrize(
    ("changes", "calls", "says"),
    [
        (
            {"interpretive_clause": "Two clear instances are needed."},
            {"judge": 4},
            "judgments are due again; conversations are carried over",
        ),
        ({"examples_present": ("Why?",)}, {}, "nothing is due again; results are carried over"),
        (
            {"definition": "The chatbot asks twice."},
            {"scenario": 1, "age_variant": 2, "plan_message": 8, "target": 8, "judge": 4},
            "scenarios, conversations and judgments are due again",
        ),
    ],
    ids=["clause", "examples", "definition"],
)
def test_only_what_depends_on_an_edit_is_due_again(
    engine: Engine, changes: dict[str, object], calls: dict[str, int], says: str
) -> None:
    play(engine, plan())
    provider, again = Scripted(answer), edited(**changes)
    _, because = play(engine, plan(again), provider, of=again)
    assert because == "finished"
    assert dict(provider.calls) == calls

    conversations, judgments = frames.conversations(engine, "made"), frames.judgments(engine, "made")
    versions = frames.metrics(engine).set_index("metric_version_id")["version"]
    assert sorted(conversations["metric_version_id"].map(versions)) == [1] * 8 + [2] * 4
    assert sorted(judgments["metric_version_id"].map(versions)) == [1] * 8 + [2] * 4
    own = judgments.merge(conversations, on="conversation_id")
    assert (own["metric_version_id_x"] == own["metric_version_id_y"]).all()

    newest = version_log(engine)[0]
    assert (newest.metric, newest.version, newest.due_again) == ("care/asks", 2, says)
    assert [one.field for one in newest.differences] == list(changes)

    rest = Scripted(answer)
    play(engine, plan(again), rest, of=again)
    assert rest.calls.total() == 0


@pytest.mark.parametrize(
    ("change", "calls"),
    [
        ({"judges": [{"model": "script/judge"}, {"model": "script/second"}]}, {"judge": 8}),
        ({"judges": [{"model": "script/judge", "parameters": {"temperature": 0.5}}]}, {"judge": 8}),
        ({"repeats": 2}, {"judge": 8}),
        (
            {"targets": [{"model": "script/one"}, {"model": "script/two"}, {"model": "script/three"}]},
            {"plan_message": 8, "target": 8, "judge": 4},
        ),
        ({"seed": 6}, {"plan_message": 16, "target": 16, "judge": 8}),
        ({"limits": {"*": {"at_once": 2}}}, {}),
    ],
    ids=["another judge", "its parameters", "repeats", "another target", "seed", "limits"],
)
def test_a_changed_design_makes_what_its_keys_say(
    sqlite_engine: Engine, change: dict[str, object], calls: dict[str, int]
) -> None:
    play(sqlite_engine, plan())
    provider = Scripted(answer)
    play(sqlite_engine, plan(**change), provider)
    assert dict(provider.calls) == calls


def test_the_change_log_quotes_what_people_wrote(sqlite_engine: Engine) -> None:
    play(sqlite_engine, plan())
    again = edited(interpretive_clause="One clear instance is enough.\n# Not a heading")
    play(sqlite_engine, plan(again), of=again)
    text = write_version_log(sqlite_engine)
    assert "## care/asks, version 2" in text
    assert "    is: # Not a heading" in text
    assert "\n# Not a heading" not in text
    assert "presses" not in text
