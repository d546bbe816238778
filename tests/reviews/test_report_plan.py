"""The registered plan in a report: what was fixed stands there in words, and another plan does not pass for it."""

from pathlib import Path

import pytest
from sqlalchemy import Engine

from impactbench.adapters import ImportRefused
from reviews.registration import AnalysisPlan, register
from reviews.report.gathering import gather
from reviews.report.package import ABOUT, DATA
from reviews.report.verifying import verify
from reviews.report.writing import TEXT, write_report
from tests.reviews.test_report import OPEN, add_rated_study, change


def test_a_plan_stands_in_the_report_and_cannot_be_changed_there(
    sqlite_engine: Engine, tmp_path: Path
) -> None:
    add_rated_study(sqlite_engine)
    register(sqlite_engine, "winter", AnalysisPlan(overlap=3, hypotheses="Experts agree."))
    write_report(gather(sqlite_engine, "winter", sharing=OPEN), tmp_path / "winter")
    text = (tmp_path / "winter" / TEXT).read_text(encoding="utf-8")
    assert "with 18 labels in" in text
    assert "| Hypotheses | Experts agree. |" in text
    assert "experts disagree 0.667;" in text
    assert verify(tmp_path / "winter").differences == ()
    change(tmp_path / "winter" / DATA / ABOUT, '"overlap": 3', '"overlap": 2')
    with pytest.raises(ImportRefused, match=r"about.json: plan: what it says does not have the hash"):
        verify(tmp_path / "winter")
