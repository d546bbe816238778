"""The items behind figures about raters and about what is missing."""

import pytest

from reviews.audit.items import under_figure
from reviews.audit.missing import missing, without_answer
from reviews.audit.rater_items import items_of_rater
from reviews.audit.raters import rater_audit
from reviews.evidence import StudyTables
from tests.demo.planted_study import PLANTED, study_of_seed


@pytest.fixture(scope="module")
def demo() -> StudyTables:
    return study_of_seed(PLANTED["seed"])


def test_the_items_of_a_rater_give_back_the_lean_that_is_said_of_them(demo: StudyTables) -> None:
    leans = {str(row.rater): row.lean.value for row in rater_audit(demo).raters}
    for rater, lean in leans.items():
        items = items_of_rater(demo, under_figure(demo, None), rater)
        assert items["further"].mean() == pytest.approx(lean), rater
        assert items["further"].abs().dropna().is_monotonic_decreasing
    harsh = items_of_rater(demo, under_figure(demo, None), "sim-external-3")
    assert len(harsh) == 60
    assert harsh.iloc[0]["own"] == "fail"


def test_every_answer_that_was_withheld_is_listed_with_what_is_missing(demo: StudyTables) -> None:
    listed = without_answer(demo)
    by_status = missing(demo).labels.by_status
    lacking = sum(number for status, number in by_status.items() if status != "submitted")
    assert len(listed) == lacking == len(PLANTED["no_verdict"])
    assert set(listed["lacks"]) == {"cannot judge", "skip"}
