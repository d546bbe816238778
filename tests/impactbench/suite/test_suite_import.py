"""A suite in the database: once is as good as twice, an edit is another version."""

import pytest
from sqlalchemy import Engine
from sqlmodel import select

from impactbench.adapters import ImportRefused
from impactbench.metrics import Suite, SuiteMetric, load_suite
from impactbench.store import frames
from impactbench.store import tables as t
from impactbench.store.engine import reading
from impactbench.suite.importing import import_suite


def small() -> Suite:
    return Suite(benchmarks=load_suite().benchmarks[:2])


def edited(suite: Suite, **words: str) -> Suite:
    """The suite with other words in its first metric."""
    first = suite.benchmarks[0]
    metric: SuiteMetric = first.metrics[0]
    changed = metric.model_copy(update={"definition": metric.definition.model_copy(update=words)})
    other = first.model_copy(update={"metrics": (changed, *first.metrics[1:])})
    return Suite(benchmarks=(other, *suite.benchmarks[1:]))


def test_the_same_suite_twice_is_the_same_as_once(engine: Engine) -> None:
    first, again = import_suite(engine, small()), import_suite(engine, small())
    assert (first.added["metrics"], first.added["versions"]) == (8, 8)
    assert (again.read["metrics"], sum(again.added.values()), again.notes) == (8, 0, [])
    kept = frames.metrics(engine)
    assert kept["version"].tolist() == [1] * 8
    assert "Agency & purpose" in kept["subareas"].iloc[0]


def test_an_edit_becomes_another_version_and_the_old_one_stays(engine: Engine) -> None:
    import_suite(engine, small(), author="ada")
    done = import_suite(engine, edited(small(), question="Does it ask?"), author="ben", because="it was long")
    assert done.notes == [
        "autonomy-support/asks-for-own-reasons has changed (question): version 2 is added, version 1 stays"
    ]
    with reading(engine) as session:
        versions = session.exec(select(t.MetricVersion).where(t.MetricVersion.metric_id == 1)).all()
    assert [(one.version, one.author, one.changed_because) for one in versions] == [
        (1, "ada", ""),
        (2, "ben", "it was long"),
    ]
    back = import_suite(engine, small())
    assert back.added["versions"] == 0
    assert back.notes == [
        "autonomy-support/asks-for-own-reasons is worded as in its version 1; the newest is 2, and it stays the newest"
    ]


def test_an_unknown_subarea_is_refused_and_nothing_is_kept(sqlite_engine: Engine) -> None:
    suite = small()
    last = suite.benchmarks[1]
    wrong = last.metrics[-1].model_copy(update={"subareas": ("politics",)})
    other = last.model_copy(update={"metrics": (*last.metrics[:-1], wrong)})
    with pytest.raises(ImportRefused, match=f"metric '{wrong.slug}': 'politics' is no subarea"):
        import_suite(sqlite_engine, Suite(benchmarks=(suite.benchmarks[0], other)))
    assert frames.metrics(sqlite_engine).empty
