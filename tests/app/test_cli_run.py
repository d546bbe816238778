"""`impactbench run`: plan, estimate, ask, do; the same command goes on; then the workbench opens the study."""

from collections.abc import Callable
from pathlib import Path

import pytest

from app.cli.run_progress import in_a_line
from impactbench.runs.design import Budget
from impactbench.runs.execution import Progress
from impactbench.runs.spending import Spending
from impactbench.runs.state import Left
from tests.app.command import Command, Said
from tests.impactbench.runs.invented_run import write_study

Run = Callable[..., Said]


@pytest.fixture
def impactbench_on(impactbench: Command, monkeypatch: pytest.MonkeyPatch) -> Run:
    def run(url: str, *arguments: object) -> Said:
        monkeypatch.setenv("IMPACTBENCH_DATABASE_URL", url)
        return impactbench(*arguments)

    return run


def test_a_study_goes_from_its_file_to_an_open_review_set(
    impactbench_on: Run, database_url: str, tmp_path: Path
) -> None:
    study = write_study(tmp_path, repeats=2)
    done = impactbench_on(database_url, "run", "start", study, "--yes")
    assert done.code == 0, done.err
    assert "8 conversations, 16 judgments; left are 8 conversations and 16 judgments" in done.out
    assert "8 conversations (0 incomplete), 16 judgments (0 unscored); 0 units failed" in done.out
    assert "Finished. Next: impactbench review open made" in done.err

    again = impactbench_on(database_url, "run", "start", study, "--yes")
    assert again.code == 0
    assert "Nothing is left" in again.err

    opened = impactbench_on(
        database_url, "review", "open", "made", "--overlap", "1", "--rater", "ana:internal", "--yes"
    )
    assert opened.code == 0, opened.err
    assert "8 of 8 conversations" in opened.out


def test_a_dry_run_and_a_no_call_nobody(impactbench_on: Run, sqlite_url: str, tmp_path: Path) -> None:
    study = write_study(tmp_path)
    dry = impactbench_on(sqlite_url, "run", "start", study, "--dry-run", "--json")
    assert dry.json["left"] == {"conversation": 8, "judgment": 8}
    assert dry.json["unpriced"] == ["script/judge", "script/one", "script/player", "script/two"]
    asked = impactbench_on(sqlite_url, "run", "start", study)
    assert asked.code == 2
    assert "price not known" in asked.out
    assert "No run was started here yet" in impactbench_on(sqlite_url, "run", "status").out


def test_a_run_that_stops_says_how_to_go_on_and_resume_finishes_it(
    impactbench_on: Run, sqlite_url: str, tmp_path: Path
) -> None:
    study = write_study(tmp_path, budget={"calls": 20})
    never = impactbench_on(sqlite_url, "run", "resume", study, "--yes")
    assert never.code == 1
    assert "was never started" in never.err

    stopped = impactbench_on(sqlite_url, "run", "start", study, "--yes")
    assert stopped.code == 3
    assert "Not finished: the budget of 20 calls is used up" in stopped.err
    assert f"To go on: impactbench run start {study}" in stopped.err
    status = impactbench_on(sqlite_url, "run", "status", "made", "--json").json[0]
    assert (status["running"], status["finished"], status["calls"]) == (False, False, 20)

    resumed = impactbench_on(sqlite_url, "run", "resume", write_study(tmp_path), "--yes", "--json")
    assert resumed.code == 0, resumed.err
    assert resumed.json["ended"] == "finished"
    assert "Finished: 8 conversations, 8 judgments" in impactbench_on(sqlite_url, "run", "status").out


def test_changes_go_to_a_file(impactbench_on: Run, sqlite_url: str, tmp_path: Path) -> None:
    path = tmp_path / "CHANGES.md"
    assert impactbench_on(sqlite_url, "run", "changes", "--output", path).code == 0
    assert path.read_text().startswith("# Versions of metrics")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"budget": {"usd": 1.0}}, "budget.usd: the price of script/"),
        ({"metrics": ["care/none"]}, "nothing in the suite is called 'care/none'"),
    ],
)
def test_a_mistake_is_one_sentence(
    impactbench_on: Run, sqlite_url: str, tmp_path: Path, change: dict[str, object], said: str
) -> None:
    done = impactbench_on(sqlite_url, "run", "start", write_study(tmp_path, **change), "--yes")
    assert (done.code, done.out) == (1, "")
    assert said in done.err
    assert "Traceback" not in done.err


def test_a_study_of_the_pipeline_runs_its_arms_and_compares_them(
    impactbench_on: Run, sqlite_url: str, tmp_path: Path
) -> None:
    study = write_study(tmp_path, ages=["adult"], pipeline_study={"switch_off": ["typing_edits"]})
    asked = impactbench_on(sqlite_url, "run", "start", study)
    assert asked.code == 2
    assert asked.err.count("nobody to ask") == 1
    in_all = next(line.split("|") for line in asked.out.replace("│", "|").splitlines() if "in all" in line)
    dry = impactbench_on(sqlite_url, "run", "start", study, "--dry-run", "--json").json
    assert [one["run"] for one in dry["arms"]] == ["run-1.all-on.1", "run-1.without-typing_edits.1"]
    assert dry["calls"] == sum(one["calls"] for one in dry["arms"]) == int(in_all[3].strip())
    started = impactbench_on(sqlite_url, "run", "start", study, "--yes")
    assert started.code == 0, started.err
    assert "Next: impactbench run compare made" in started.err
    made = impactbench_on(sqlite_url, "run", "status", "made", "--json").json
    assert sum(one["calls"] for one in made) == dry["calls"]
    compared = impactbench_on(sqlite_url, "run", "compare", "made", "--json").json
    assert {(one["off"], one["metrics"]) for one in compared} == {
        ("typing_edits", group) for group in ("all", "positive", "negative")
    }
    assert compared[0]["pass_rate"]["pairs"] == 4
    assert "typing_edits" in impactbench_on(sqlite_url, "run", "compare", "made").out
    refused = impactbench_on(sqlite_url, "run", "simulators", "made")
    assert (refused.code, "not two simulators" in refused.err) == (1, True)
    never = impactbench_on(
        sqlite_url, "run", "coverage", "made", "--auditor", "script/x", "--provider", "made", "--yes"
    )
    assert (never.code, "no provider" in never.err) == (1, True)
    unpriced = (
        "run",
        "coverage",
        "made",
        "--auditor",
        "script/x",
        "--provider",
        f"scripted:{tmp_path}/script.yaml",
    )
    dear = impactbench_on(sqlite_url, *unpriced, "--budget-usd", "1", "--yes")
    assert (dear.code, "set --budget-calls or --budget-tokens" in dear.err) == (1, True)
    elsewhere = impactbench_on(sqlite_url, "run", "status", "other")
    assert "there are runs of made" in elsewhere.err


def test_a_line_for_a_log_says_how_far_a_run_is() -> None:
    left = Left(conversations=12, judgments=24, scenarios=6, not_judged=0)
    assert in_a_line(None, left) == "Getting ready ..."
    spending = Spending(budget=Budget(), calls=50, tokens=9_000, usd=0.5)
    progress = Progress(spending=spending, conversations=3, judgments=5, under_way=4)
    assert in_a_line(progress, left) == (
        "3 of 12 conversations (0 incomplete), 5 of 24 judgments (0 unscored), 0 failed, 4 units under way;"
        " 50 calls, 9,000 tokens, $0.50 in all."
    )
