"""Same items, same codes, same way up."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from validation.coding import coding, coding_findings
from validation.integrity import inverted_metrics
from validation.item_identity import item_identity, text_hash
from validation.polarity import polarity_tripwire


def humanebench_texts(shared: Path) -> dict[tuple[str, str, str], str]:
    path = shared / "data/humanebench/human_ratings/rater-1_ratings.csv"
    with path.open(newline="", encoding="utf-8") as lines:
        return {
            (row["input_id"], row["ai_model"], row["ai_persona"]): text_hash(row["ai_output"])
            for row in csv.DictReader(lines)
        }


def test_golden_outputs_are_the_texts_that_people_read(shared: Path) -> None:
    read = humanebench_texts(shared)
    lines = (shared / "data/humanebench/golden_questions.jsonl").read_text(encoding="utf-8").splitlines()
    golden = {
        (m["input_id"], m["ai_model"], m["ai_persona"]): text_hash(m["ai_output"])
        for m in (json.loads(line)["metadata"] for line in lines if line)
    }
    found = item_identity(read, golden)
    assert len(found.same) == 24
    assert found.comparable
    assert len(found.only_first) == 24


def test_scores_of_regenerated_texts_are_refused(shared: Path) -> None:
    read = humanebench_texts(shared)
    with (shared / "data/humanebench/tables/inter_judge_raw_human_slice.csv").open(encoding="utf-8") as lines:
        judged = {
            (
                row["sample_id"],
                row["model"].replace("-2024-11-20", ""),
                row["persona"].replace("_persona", ""),
            ): None
            for row in csv.DictReader(lines)
        }
    assert set(judged) == set(read)
    found = item_identity(read, judged)
    assert not found.comparable
    assert not found.same
    assert len(found.findings) == 48
    regenerated = {item: text_hash(f"another answer to {item}") for item in read}
    refused = item_identity(read, regenerated)
    assert len(refused.different) == 48
    assert refused.findings[0].code == "other_text"


def test_nothing_in_common_is_not_comparable() -> None:
    found = item_identity({1: text_hash("a")}, {2: text_hash("a")})
    assert not found.comparable
    assert (found.only_first, found.only_second) == ((1,), (2,))
    assert not item_identity({}, {}).comparable


@pytest.mark.parametrize(("judge", "published"), [("GPT-4", 0.268)])
def test_the_published_llmbar_kappa_is_a_miscoding(shared: Path, judge: str, published: float) -> None:
    folder = shared / "data/llmbar"
    labels = [int(row["label"]) for row in json.loads((folder / "dataset.json").read_text(encoding="utf-8"))]
    results = json.loads((folder / f"evaluators/{judge}/Vanilla/result.json").read_text(encoding="utf-8"))
    winners = [int(row["results"][0]["swap = False"]["winner"]) for row in results]
    miscoded = [0 if winner == 2 else winner for winner in winners]
    assert cohen_kappa_score(labels, miscoded) == pytest.approx(published, abs=1e-3)
    found = coding(labels, miscoded)
    assert found.suspected
    assert found.only_first == (2,)
    assert found.only_second == (0,)
    assert found.recoding == {0: 2, 1: 1}
    restored = [found.recoding[winner] for winner in miscoded]
    assert cohen_kappa_score(labels, restored) == pytest.approx(0.898, abs=1e-3)
    assert not coding(labels, winners).suspected


def test_a_turned_scale_is_found_on_real_safety_labels(shared: Path) -> None:
    instances = json.loads((shared / "data/dices/dices_350_expert.json").read_text(encoding="utf-8"))[
        "instances"
    ]
    unsafe = [one["annotations"]["safety"]["majority_human"] for one in instances]
    right_way_up = {"Yes": "No", "No": "Yes"}
    answers_is_it_safe = [right_way_up[label] for label in unsafe]
    (finding,) = coding_findings(unsafe, answers_is_it_safe, name="DICES")
    assert finding.code == "miscoded_labels"
    assert "0%" in finding.sentence
    assert coding_findings(unsafe, unsafe, name="DICES") == ()


def test_inverted_metrics_are_named_and_good_ones_are_not() -> None:
    reference = [1, 0] * 10 + [1, 0] * 10
    judge = [0, 1] * 10 + [1, 0] * 10
    found = inverted_metrics(reference, judge, clusters=["warmth"] * 20 + ["candour"] * 20)
    assert [one.subject for one in found] == ["warmth"]
    assert "100% the other way round" in found[0].sentence
    assert inverted_metrics([], [], clusters=[]) == ()


def test_empty_labels_have_no_coding_to_doubt() -> None:
    found = coding([], [])
    assert not found.suspected
    assert found.agreement.undefined_because == "no_items"
    with pytest.raises(ValueError, match="1 labels"):
        coding([1], [])


@pytest.mark.parametrize(
    ("first", "second", "suspected"),
    [
        (["pass"] * 9 + ["borderline"], ["pass"] * 9 + ["fail"], False),  # one stray code a side
        ([1, 2] * 2, [1, 0] * 2, False),  # too few to tell
        ([1, 2] * 12, [1, 0] * 12, True),
        ([1, 2, 3] * 9, [2, 3, 1] * 9, True),
        (["pass"] * 90 + ["fail"] * 10, ["fail"] * 100, False),  # a judge that never varies is no recoding
    ],
)
def test_a_recoding_is_suspected_only_where_it_matters(
    first: list[object], second: list[object], suspected: bool
) -> None:
    assert coding(first, second).suspected is suspected  # type: ignore[arg-type]


@pytest.mark.parametrize("categories", [2, 4, 8])
def test_columns_that_have_nothing_to_do_with_each_other_seldom_look_recoded(categories: int) -> None:
    draws = np.random.default_rng(7).integers(0, categories, size=(200, 2, 60)).tolist()
    assert sum(coding(first, second).suspected for first, second in draws) <= 10


def test_a_metric_judged_worse_than_chance_is_suspected_only_from_thirty_items_on() -> None:
    reference, judge = [1] * 10 + [0] * 10, [0] * 7 + [1] * 3 + [1] * 7 + [0] * 3
    (few,) = polarity_tripwire(reference, judge, clusters=["m"] * 20)
    (many,) = polarity_tripwire(reference * 3, judge * 3, clusters=["m"] * 60)
    assert not few.raised
    assert not few.suspected
    assert not many.raised
    assert many.suspected


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=30))
def test_the_best_recoding_never_agrees_less_than_the_codes_as_they_stand(
    pairs: list[tuple[int, int]],
) -> None:
    first, second = zip(*pairs, strict=True)
    found = coding(first, second)
    assert (found.agreement_recoded.value or 0) >= (found.agreement.value or 0)
    relettered = coding(first, ["xyz"[code] for code in second])
    assert relettered.agreement_recoded.value == found.agreement_recoded.value
