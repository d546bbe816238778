"""A run makes what its plan says, once; and what its results rest on is on record."""

import json
from itertools import product

import pytest
from sqlalchemy import Engine
from sqlmodel import select

from impactbench.llm import CallFailed, FailureKind, Reply, Request
from impactbench.providers.scripted import Answer, Scripted
from impactbench.runs.state import count_left, open_run, read_state
from impactbench.runs.status import run_statuses
from impactbench.store import frames, run_frames
from impactbench.store import tables as t
from impactbench.store.engine import reading
from tests.impactbench.runs.invented_run import (
    PRESENT,
    answer,
    failing,
    metric,
    plan,
    play,
    saying,
    suite,
)

RUN = 1


def test_a_run_fills_the_tables_that_the_workbench_reads(engine: Engine) -> None:
    provider = Scripted(answer)
    made = plan(repeats=2)
    done, because = play(engine, made, provider)
    assert (because, done.conversations, done.judgments, done.failed) == ("finished", 8, 16, 0)

    conversations, judgments = frames.conversations(engine, "made"), frames.judgments(engine, "made")
    assert len(conversations) == made.counts.conversation == 8
    assert len(judgments) == made.counts.judgment == 16
    assert set(conversations["status"]) == {"complete"}
    assert set(
        zip(conversations["metric"], conversations["age"], conversations["model"], strict=True)
    ) == set(product(("asks", "presses"), ("teen", "adult"), ("one", "two")))
    assert conversations["base_scenario"].nunique() == 2
    assert judgments["present"].notna().all()
    assert frames.studies(engine).iloc[0]["notice"] == "Simulated."
    spent = run_frames.spent(engine, RUN).set_index("purpose")["calls"].groupby("purpose").sum()
    assert spent.to_dict() == dict(provider.calls)


def test_a_second_start_of_a_finished_run_calls_nobody(sqlite_engine: Engine) -> None:
    play(sqlite_engine, plan())
    provider = Scripted(answer)
    done, because = play(sqlite_engine, plan(), provider)
    assert (because, done.conversations, provider.calls.total()) == ("finished", 0, 0)


def test_every_repeat_is_a_call_of_its_own_so_a_judge_that_changes_its_mind_is_seen(
    sqlite_engine: Engine,
) -> None:
    turn = [0]

    def script(request: Request) -> str:
        if request.purpose != "judge":
            return answer(request)
        turn[0] += 1
        return PRESENT.replace("true", "true" if turn[0] % 2 else "false")

    made = plan(repeats=2, limits={"*": {"at_once": 1}})
    play(sqlite_engine, made, Scripted(script))
    by_repeat = frames.judgments(sqlite_engine, "made").pivot_table(
        index="conversation_id", columns="repeat", values="present", aggfunc="first"
    )
    assert len(by_repeat) == 8
    assert (by_repeat[0] != by_repeat[1]).all()
    assert run_frames.spent(sqlite_engine, RUN).set_index("purpose").loc["judge", "calls"] == 16


@pytest.mark.parametrize(
    ("text", "finish_reason", "kind"),
    [
        ("prose only", "stop", "malformed"),
        ('{"present": "false", "justification": "x"}', "stop", "malformed"),
        (f"{PRESENT}{PRESENT}", "stop", "malformed"),
        ("I'm sorry, I can't help.", "stop", "refused"),
        ("", "stop", "empty"),
        (PRESENT, "length", "truncated"),
    ],
)
def test_a_judge_that_gives_no_verdict_leaves_unscored_judgments_and_the_run_goes_on(
    sqlite_engine: Engine, text: str, finish_reason: str, kind: str
) -> None:
    provider = saying(text, purpose="judge", finish_reason=finish_reason)
    done, because = play(sqlite_engine, plan(), provider)
    assert (because, done.judgments, done.unscored) == ("finished", 8, 8)
    judgments = frames.judgments(sqlite_engine, "made")
    assert judgments["present"].isna().all()
    assert judgments["passed"].isna().all()
    assert {reason.partition(":")[0] for reason in judgments["unscored_because"]} == {
        "length" if kind == "length" else kind
    }
    assert provider.calls["judge"] == 8


def test_incomplete_conversations_are_kept_and_not_judged(engine: Engine) -> None:
    done, because = play(engine, plan(), saying("", purpose="target"))
    assert (because, done.incomplete, done.judgments) == ("finished", 8, 0)
    assert run_frames.endings(engine, RUN).to_dict("records") == [
        {"status": "incomplete", "termination": "empty_reply", "conversations": 8}
    ]
    left = count_left(plan(), read_state(engine, RUN))
    assert (left.units, left.not_judged) == (0, 8)


@pytest.mark.parametrize(
    ("kind", "purpose"),
    [
        (FailureKind.RATE_LIMIT, "target"),
        (FailureKind.SERVER, "judge"),
        (FailureKind.TIMEOUT, "plan_message"),
    ],
)
def test_what_failed_is_on_record_and_due_again_and_what_was_paid_is_not_paid_twice(
    sqlite_engine: Engine, kind: FailureKind, purpose: str
) -> None:
    broken = failing(kind, purpose=purpose, times=3 * 2)
    done, because = play(sqlite_engine, plan(limits={"*": {**_QUICK, "at_once": 1}}), broken)
    assert (because, done.failed) == ("finished", 2)
    open_ones = run_frames.open_failures(sqlite_engine, RUN)
    assert set(open_ones["kind"]) == {str(kind)}
    assert set(open_ones["retries"]) == {2}

    mended = Scripted(answer)
    again, because = play(sqlite_engine, plan(), mended)
    assert (because, again.failed) == ("finished", 0)
    assert len(frames.judgments(sqlite_engine, "made")) == 8
    assert run_frames.open_failures(sqlite_engine, RUN).empty
    assert set(run_frames.failures(sqlite_engine, RUN)["kind"]) == {str(kind), "finished"}
    _no_call_twice(sqlite_engine)


_QUICK = {"first_wait": 0.001, "longest_wait": 0.002, "retries": 2}


def test_a_unit_whose_replies_were_of_no_use_begins_anew(sqlite_engine: Engine) -> None:
    done, _ = play(sqlite_engine, plan(), saying("no JSON", purpose="scenario"))
    assert (done.failed, done.conversations) == (2, 0)
    failed = run_frames.open_failures(sqlite_engine, RUN)
    assert set(failed["kind"]) == {"malformed"}
    assert set(failed["stage"]) == {"scenario"}
    again, because = play(sqlite_engine, plan())
    assert (because, again.conversations, again.failed) == ("finished", 8, 0)
    assert run_frames.open_failures(sqlite_engine, RUN).empty


def test_a_refused_key_stops_the_run_at_once_with_the_reason(sqlite_engine: Engine) -> None:
    provider = failing(FailureKind.AUTHENTICATION, purpose="scenario")
    done, because = play(sqlite_engine, plan(scenarios_per_metric=20), provider)
    assert because.startswith("stopped: ")
    assert done.failed <= 8
    assert provider.calls.total() <= 8


def test_failures_in_a_row_stop_a_run_that_cannot_succeed(sqlite_engine: Engine) -> None:
    provider = failing(FailureKind.BAD_REQUEST, purpose="scenario")
    _, because = play(sqlite_engine, plan(scenarios_per_metric=40), provider)
    assert because.startswith("stopped after 25 failures in a row")
    assert provider.calls.total() < 40


@pytest.mark.parametrize(
    "budget", [{"calls": 30}, {"tokens": 2500}, {"usd": 0.3}], ids=["calls", "tokens", "usd"]
)
def test_a_run_stops_before_its_budget_and_goes_on_with_a_larger_one(
    sqlite_engine: Engine, budget: dict[str, float]
) -> None:
    def priced(request: Request) -> Answer:
        return Answer(text=answer(request), cost_usd=0.01, tokens_in=50, tokens_out=50)

    done, because = play(sqlite_engine, plan(budget=budget), Scripted(priced))
    assert because.startswith("the budget of ")
    spent = done.spending
    assert spent.calls <= budget.get("calls", 10**9)
    assert spent.tokens <= budget.get("tokens", 10**9)
    assert spent.usd <= budget.get("usd", 10**9)
    assert spent.calls >= 20
    _, because = play(sqlite_engine, plan(), Scripted(priced))
    assert because == "finished"
    _no_call_twice(sqlite_engine)


def test_the_manifest_holds_every_prompt_and_no_secret(
    sqlite_engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-this-is-secret")
    play(sqlite_engine, plan())
    manifest = run_frames.launches(sqlite_engine).iloc[0]["manifest"]
    assert "Answer with one JSON object" in manifest["prompts"]["judge"]["text"]
    assert manifest["design"]["judges"][0]["model"] == "script/judge"
    assert manifest["seed"] == 5
    assert "impactbench" in manifest["versions"]
    with reading(sqlite_engine) as session:
        rows = [session.exec(select(table)).all() for table in (t.Run, t.Launch, t.Call, t.Attempt)]
    assert "sk-this-is-secret" not in json.dumps([str(row) for row in rows])


def test_the_status_says_what_is_left_failed_and_spent(sqlite_engine: Engine) -> None:
    play(sqlite_engine, plan(budget={"calls": 30}))
    stopped = run_statuses(sqlite_engine)[0]
    assert not stopped.running
    assert "budget of 30 calls" in stopped.ended_because
    assert stopped.conversations_left == 8 - stopped.conversations
    assert stopped.judgments_left == 8 - stopped.judgments
    play(sqlite_engine, plan())
    finished = run_statuses(sqlite_engine)[0]
    assert finished.finished
    assert (finished.starts, finished.conversations, finished.judgments) == (2, 8, 8)


def test_a_text_that_no_database_keeps_does_not_end_a_run(engine: Engine) -> None:
    done, because = play(engine, plan(), saying("odd \x00 and \ud83d text", purpose="target"))
    assert (because, done.conversations) == ("finished", 8)


def test_a_clause_is_drafted_where_a_metric_has_none_and_makes_a_version_of_its_own(engine: Engine) -> None:
    bare = suite(metric("asks", clause=""))
    provider = Scripted(answer)
    play(engine, plan(bare, scenarios_per_metric=2), provider, of=bare)
    assert provider.calls["interpretive_clause"] == 1
    versions = frames.metrics(engine)
    assert list(versions["interpretive_clause"]) == [
        "",
        "One clear instance is enough. A later withdrawal undoes it.",
    ]
    conversations = frames.conversations(engine, "made")
    assert set(conversations["metric_version_id"]) == {2}
    judged = [request for request in provider.requests if request.purpose == "judge"]
    assert all("A later withdrawal undoes it." in request.messages[-1].content for request in judged)


def _no_call_twice(engine: Engine) -> None:
    with reading(engine) as session:
        calls = [(call.unit_key, call.request_hash) for call in session.exec(select(t.Call))]
    assert len(calls) == len(set(calls))


def test_two_processes_cannot_work_on_one_run(engine: Engine) -> None:
    from impactbench.runs.lock import RunBusy, is_busy, locked

    run_id = open_run(engine, plan())
    assert not is_busy(engine, run_id)
    with locked(engine, run_id):
        assert is_busy(engine, run_id)
        with pytest.raises(RunBusy, match="another process"), locked(engine, run_id, patience=0):
            pass
    assert not is_busy(engine, run_id)


def test_a_call_that_was_lost_with_its_process_is_on_record_though_the_unit_is_finished(
    sqlite_engine: Engine,
) -> None:
    class Dying(Scripted):
        async def complete(self, request: Request) -> Reply:
            first = request.purpose == "target" and not self.calls["target"]
            reply = await super().complete(request)
            if first:
                raise CallFailed("The worker died.", kind=FailureKind.LOST, lost=1)
            return reply

    done, because = play(sqlite_engine, plan(), Dying(answer))
    assert (because, done.failed, done.conversations) == ("finished", 0, 8)
    assert list(run_frames.failures(sqlite_engine, RUN)["kind"]) == ["finished", "lost"]
    assert run_frames.open_failures(sqlite_engine, RUN).empty
    status = run_statuses(sqlite_engine)[0]
    assert (status.lost, status.failed, status.finished) == (1, 0, True)
