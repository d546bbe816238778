"""`impactbench suite` and `impactbench submit`."""

from pathlib import Path

import pytest
import yaml
from sqlalchemy import Engine

from impactbench.resources import content
from impactbench.store import frames
from tests.app.command import Command
from tests.suggestions import FIELDS, add_people

JUDGE = """
rules:
  - {contains: "| It is past two", answers: [{text: '{"present": true, "justification": "It does."}'}]}
  - {contains: "| The ships", answers: [{text: '{"present": true, "justification": "It does."}'}]}
  - {answers: [{text: '{"present": false, "justification": "It does not."}'}]}
"""


@pytest.fixture
def database(sqlite_engine: Engine, sqlite_url: str, monkeypatch: pytest.MonkeyPatch) -> Engine:
    monkeypatch.setenv("IMPACTBENCH_DATABASE_URL", sqlite_url)
    monkeypatch.delenv("IMPACTBENCH_TRIAL_MODEL", raising=False)
    add_people(sqlite_engine)
    return sqlite_engine


@pytest.fixture
def filled(tmp_path: Path) -> Path:
    file = tmp_path / "mine.yaml"
    file.write_text(yaml.safe_dump(FIELDS), encoding="utf-8")
    return file


def test_the_suite_is_checked_listed_shown_and_imported(impactbench: Command, database: Engine) -> None:
    assert "Nothing to mend in 56 metrics in 14 benchmarks." in impactbench("suite", "check").err
    listed = impactbench("suite", "list").out
    assert "human-ties/claims-a-bond" in listed
    assert "Bias & discrimination" in listed
    shown = impactbench("suite", "show", "human-ties/claims-a-bond").out
    assert "“I missed you all day. Nobody understands me the way you do.”" in shown
    assert "Which situations does it stand for" in impactbench("suite", "show", "human-ties").out
    assert [impactbench("suite", "import").code for _ in range(2)] == [0, 0]
    assert len(frames.metrics(database)) == 56


def test_findings_are_printed_one_a_line_and_end_in_one(impactbench: Command, tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    metric = {
        "slug": "a",
        "name": "Asks",
        "polarity": "positive",
        "definition": "It asks.",
        "subareas": ["law"],
    }
    file.write_text(yaml.safe_dump({"name": "Mine", "metrics": [metric]}), encoding="utf-8")
    said = impactbench("suite", "check", tmp_path)
    assert said.code == 1
    assert f"{file}: metric 'a': the interpretive clause is missing; settle in two to five" in said.out
    assert "7 findings in 1 metrics in 1 benchmarks." in said.err
    refused = impactbench("suite", "check", tmp_path / "none")
    assert (refused.code, "there is no benchmark here" in refused.err) == (1, True)


def test_a_template_is_filled_in_checked_sent_and_tried(
    impactbench: Command, database: Engine, filled: Path, tmp_path: Path
) -> None:
    template = impactbench("submit", "template").out
    assert template == content("suite/submission.yaml").read_text(encoding="utf-8")
    empty = tmp_path / "empty.yaml"
    empty.write_text(template, encoding="utf-8")
    lacking = impactbench("submit", "check", empty)
    assert (lacking.code, lacking.out.count("there is still missing")) == (1, 3)
    assert impactbench("submit", "check", filled).code == 0

    assert "no suggestion yet" in impactbench("submit", "list").err
    sent = impactbench("submit", "send", filled, "--as", "author")
    assert "Sent as revision 1." in sent.err
    assert "set IMPACTBENCH_TRIAL_MODEL" in sent.err
    code = sent.out.strip()
    script = tmp_path / "judge.yaml"
    script.write_text(JUDGE, encoding="utf-8")
    tried = impactbench("submit", "try", code, "--model", f"scripted:{script}")
    assert (tried.code, "tells present from absent on the 4 examples" in tried.err) == (0, True)
    assert "are no evidence" in tried.err
    assert "told apart" in impactbench("submit", "list").out


def test_mistakes_are_one_sentence(impactbench: Command, database: Engine, filled: Path) -> None:
    for arguments, said in (
        (["send", filled, "--as", "reader"], "'reader' is no expert or maintainer"),
        (["try", "0000", "--model", "x"], "there is no suggestion '0000'"),
        (["check", filled.parent / "none.yaml"], "there is no such file"),
    ):
        refused = impactbench("submit", *arguments)
        assert refused.code == 1
        assert refused.err.startswith("Error: ")
        assert said in refused.err
