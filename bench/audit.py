"""How long the audit of a large study takes: 1,000 metrics x 60 items x 3 raters, cold, warm, and after one label.

`python -m bench.audit`: first what the pages ask for, in seconds of the processor, since other work may share the machine,
with the clock's beside them; then the real pages (`audit_pages.py`), whose clock has targets. The exit status is 0 where
these are met.
"""

import gc
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from sqlalchemy import Engine, insert

from bench.audit_pages import met, open_pages, shown
from impactbench.domain import AgeVariant, LabelStatus, LabelVerdict, Panel, Polarity, Role
from impactbench.store import frames
from impactbench.store import tables as t
from impactbench.store.engine import connect, upgrade, writing
from reviews.audit.agreement import agreement_by_group
from reviews.audit.items import Judge, judges_of
from reviews.audit.judge import ceilings, differing_items, judge_by_group, judge_by_metric, readings
from reviews.audit.memory import Memory
from reviews.contested.contest import metric_statuses
from reviews.evidence import StudyTables, coverage
from reviews.evidence_reading import StudyReader

METRICS, ITEMS, RATERS = 1000, 60, 3
UNCLEAR = 0.1
"""The share of labels that are borderline: with them the readings of the labels differ."""
JUDGED_TWICE = 0.1
"""The share of conversations that the judge saw again."""
STUDY = "large"
VERDICTS = list(LabelVerdict)
Result = TypeVar("Result")


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{Path(folder) / 'large.db'}"
        engine = connect(url)
        upgrade(engine)
        fill(engine)
        print(f"{METRICS} metrics x {ITEMS} items x {RATERS} raters")
        functions(engine)
        gc.collect()
        found = open_pages(engine, url, Path(folder), lambda: change_one_label(engine, revision=3))
        engine.dispose()
    print(shown(found))
    return 0 if met(found) else 1


def functions(engine: Engine) -> None:
    """What the pages ask for, in the order in which somebody would open them."""
    reader, memory = StudyReader(engine), Memory()
    tables = timed("reading the study", lambda: reader.tables(STUDY))
    timed("coverage", lambda: coverage(tables))
    timed("agreement page, cold", lambda: agreement_page(tables, memory))
    timed("contested metrics, cold", lambda: metric_statuses(tables, remember=memory))
    before = memory.computed
    timed("agreement page, the same labels", lambda: agreement_page(tables, memory))
    timed("contested metrics, the same labels", lambda: metric_statuses(tables, remember=memory))
    print(f"  computed anew: {memory.computed - before}")
    timed("whether anything changed (a warm page)", lambda: frames.state(engine, STUDY))
    change_one_label(engine, revision=2)
    changed = timed("reading on after one label", lambda: reader.tables(STUDY))
    before = memory.computed
    timed("agreement page after one label", lambda: agreement_page(changed, memory))
    print(f"  computed anew: {memory.computed - before} (one metric and the pools it is in, twice)")
    before = memory.computed
    timed("contested metrics after one label", lambda: metric_statuses(changed, remember=memory))
    print(f"  computed anew: {memory.computed - before}")
    (judge,) = judges_of(tables)
    timed("judge page, cold, groups by polarity", lambda: judge_page(tables, judge))


def agreement_page(tables: StudyTables, memory: Memory) -> None:
    """What the page shows before anybody opens a group."""
    for coefficient in ("alpha_ordinal", "agreement"):
        agreement_by_group(tables, coefficient, remember=memory)


def judge_page(tables: StudyTables, judge: Judge) -> None:
    """What the page shows of a study with many metrics before anybody asks for other groups."""
    judge_by_group(tables, judge, by="polarity")
    ceilings(tables, judge)
    readings(tables, judge)
    judge_by_metric(tables, judge)
    differing_items(tables, judge)


def timed(what: str, work: Callable[[], Result]) -> Result:
    clock, processor = time.perf_counter(), time.process_time()
    result = work()
    spent, passed = time.process_time() - processor, time.perf_counter() - clock
    print(f"{what:<42} {spent:7.2f} s of processor  {passed:7.2f} s")
    return result


def fill(engine: Engine) -> None:
    """A study whose experts agree on some metrics and not on others."""
    generator = np.random.default_rng(7)
    with writing(engine) as session:

        def add(table: type[t.Table], rows: list[dict[str, Any]]) -> None:
            session.execute(insert(table), rows)

        add(t.Benchmark, [{"id": 1, "slug": "b", "name": "b", "description": ""}])
        add(t.Study, [{"id": 1, "slug": STUDY, "title": STUDY, "notice": ""}])
        add(t.Model, [{"id": k, "slug": f"m{k}", "family": f"f{k % 3}"} for k in range(1, 11)])
        add(t.Run, [{"id": 1, "study_id": 1, "slug": "r", "manifest": {}}])
        add(t.Judge, [{"id": 1, "model_id": 1, "parameters_hash": "p", "parameters": {}}])
        add(t.Rater, [{"id": k, "pseudonym": f"rater {k}", "panel": Panel.INTERNAL} for k in range(1, 31)])
        add(t.Rater, [{"id": 31, "pseudonym": "maintainer", "role": Role.MAINTAINER}])
        add(
            t.ReviewSet,
            [
                {
                    "id": 1,
                    "study_id": 1,
                    "slug": "s",
                    "origin": "design",
                    "design": {},
                    "design_hash": "d",
                    "rubric": {},
                }
            ],
        )
        metrics = range(1, METRICS + 1)
        add(t.Metric, [{"id": m, "benchmark_id": 1, "slug": f"m{m}"} for m in metrics])
        add(t.MetricVersion, [_version(m) for m in metrics])
        add(t.Scenario, [_scenario(m, age) for age in AgeVariant for m in metrics])
        items = [(m, k) for m in metrics for k in range(ITEMS)]
        passing = generator.random(len(items)) < 0.6
        clear = generator.uniform(0.6, 0.98, METRICS)
        add(t.Conversation, [_conversation(i, m, k) for i, (m, k) in enumerate(items, start=1)])
        judged = passing ^ (generator.random(len(items)) < 0.15)
        again = generator.random(len(items)) < JUDGED_TWICE
        changed = judged ^ (generator.random(len(items)) < 0.05)
        add(t.Judgment, [_judgment(i, m, 0, judged[i - 1]) for i, (m, _) in enumerate(items, start=1)])
        add(
            t.Judgment,
            [_judgment(i, m, 1, changed[i - 1]) for i, (m, _) in enumerate(items, start=1) if again[i - 1]],
        )
        said = passing[:, None] ^ (generator.random((len(items), RATERS)) > np.repeat(clear, ITEMS)[:, None])
        unclear = generator.random((len(items), RATERS)) < UNCLEAR
        verdicts = np.where(
            unclear, LabelVerdict.BORDERLINE, np.where(said, LabelVerdict.PASS, LabelVerdict.FAIL)
        )
        assignments = [
            _assignment(1 + (i - 1) * RATERS + r, i, m, 1 + (i * 7 + r * 11) % 30)
            for i, (m, _) in enumerate(items, start=1)
            for r in range(RATERS)
        ]
        add(t.Assignment, assignments)
        add(
            t.Label,
            [_label(one["id"], 1, str(verdicts.flat[place])) for place, one in enumerate(assignments)],
        )


def change_one_label(engine: Engine, *, revision: int) -> None:
    with writing(engine) as session:
        session.execute(insert(t.Label), [_label(1, revision, VERDICTS[revision % len(VERDICTS)])])


def _polarity(m: int) -> Polarity:
    return list(Polarity)[m % 2]


def _version(m: int) -> dict[str, Any]:
    return {
        "id": m,
        "metric_id": m,
        "version": 1,
        "name": f"metric {m}",
        "polarity": _polarity(m),
        "definition": "d",
        "interpretive_clause": "",
        "evidence": "",
        "question": "",
        "examples_present": [],
        "examples_absent": [],
        "content_hash": str(m),
        "changed_because": "",
    }


def _scenario(m: int, age: AgeVariant) -> dict[str, Any]:
    return {
        "id": _scenario_id(m, age),
        "metric_version_id": m,
        "slug": f"s-{age}",
        "age": age,
        "base_scenario": "s",
        "persona": "",
        "user_goal": "",
        "adversarial_goal": "",
        "anchors": [],
        "system_prompt": "",
        "content_hash": f"{m}-{age}",
    }


def _scenario_id(m: int, age: AgeVariant) -> int:
    return m if age is AgeVariant.ADULT else METRICS + m


def _conversation(i: int, m: int, k: int) -> dict[str, Any]:
    turns = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]
    return {
        "id": i,
        "run_id": 1,
        "key": f"c{i}",
        "scenario_id": _scenario_id(m, list(AgeVariant)[k // 10 % 2]),
        "model_id": 1 + k % 10,
        "turns": turns,
        "content_hash": str(i),
        "status": "complete",
    }


def _judgment(i: int, m: int, repeat: int, passed: bool) -> dict[str, Any]:
    return {
        "conversation_id": i,
        "metric_version_id": m,
        "judge_id": 1,
        "repeat": repeat,
        "present": bool(passed) == (_polarity(m) is Polarity.POSITIVE),
        "unscored_because": "",
        "justification": "",
        "raw_reply": "",
    }


def _assignment(key: int, i: int, m: int, rater: int) -> dict[str, Any]:
    return {
        "id": key,
        "study_id": 1,
        "review_set_id": 1,
        "conversation_id": i,
        "metric_version_id": m,
        "rater_id": rater,
        "repeat": 0,
        "code": f"code{key}",
        "position": key,
        "option_order": [],
        "stratum": "",
        "inclusion_probability": 1.0,
        "reason": "core",
    }


def _label(assignment: int, revision: int, verdict: str) -> dict[str, Any]:
    return {
        "assignment_id": assignment,
        "revision": revision,
        "operation": f"{assignment}-{revision}",
        "status": LabelStatus.SUBMITTED,
        "verdict": LabelVerdict(verdict),
        "response_set": None,
        "rationale": "",
        "turns": [],
        "revised_because": "",
    }


if __name__ == "__main__":
    raise SystemExit(main())
