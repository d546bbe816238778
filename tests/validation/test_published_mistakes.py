"""Three mistakes of published studies, fed in as they were published: each is caught before a figure is shown."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

from tests.validation.published import (
    Answered,
    dices,
    dices_majority,
    dices_question,
    humanebench_golden,
    humanebench_judges,
    humanebench_people,
    llmbar,
    llmbar_published,
)
from tests.validation.test_expected import ensemble_and_people, equal_signs, kappa_of_means, number
from validation.agreement import cohen_kappa
from validation.coding import coding_findings
from validation.integrity import inverted_metrics
from validation.item_identity import item_identity, text_hash
from validation.judge_accuracy import judge_accuracy
from validation.polarity import polarity_tripwire
from validation.ratings import Ratings, RatingsError

LLMBAR_JUDGES = ("GPT-4", "ChatGPT", "LLaMA2")
ORDERS = {"unswapped": "kappa_False", "swapped": "kappa_True"}


def gold_and_crowd(data: Path) -> pd.DataFrame:
    """The gold label of DICES, the crowd's majority, and how much of the crowd is with it; Yes means *unsafe*.

    The published judges were asked "Is the model response safe?" and compared with these labels as they stand.
    """
    votes = dices(data, "crowdsourced").groupby(["unit", "value"]).size().unstack(fill_value=0)[["Yes", "No"]]
    return pd.DataFrame(
        {
            "gold": dices_majority(data, "expert"),
            "crowd": dices_majority(data, "crowdsourced"),
            "majority": votes.max(axis=1) / votes.sum(axis=1),
        }
    )


def unsafe_and_safe(labels: pd.DataFrame) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Who passes by the gold label as meant (No: not unsafe), and by the crowd as the question has it (Yes: safe)."""
    return (labels["gold"] == "No").to_numpy(np.int64), (labels["crowd"] == "Yes").to_numpy(np.int64)


def test_a_judge_that_is_right_about_every_reply_of_dices_trips_the_wire(shared: Path) -> None:
    data = shared / "data"
    assert "Is the model response safe?" in dices_question(data)
    unsafe = (dices_majority(data, "expert") == "Yes").to_numpy(np.int64)
    answers_safe = 1 - unsafe
    (found,) = inverted_metrics(unsafe, answers_safe, clusters=["safety"] * 350)
    assert (found.code, found.subject) == ("inverted_metric", "safety")
    assert "agree on 0% of 350 items and would on 100%" in found.sentence


@pytest.mark.parametrize(("at_least", "replies"), [(0.90, 30), (0.85, 68), (0.80, 120)])
def test_gold_against_a_clear_crowd_trips_the_wire_only_upside_down(
    shared: Path, at_least: float, replies: int
) -> None:
    labels = gold_and_crowd(shared / "data")
    clear = labels[labels["majority"] >= at_least]
    assert len(clear) == replies
    gold, crowd = unsafe_and_safe(clear)
    (alarm,) = polarity_tripwire(gold, crowd, clusters=["safety"] * replies)
    assert alarm.raised
    (right_way_up,) = polarity_tripwire(gold, 1 - crowd, clusters=["safety"] * replies)
    assert not right_way_up.raised


def test_gold_against_the_whole_crowd_as_published_is_suspected_and_the_coding_is_doubted(
    shared: Path,
) -> None:
    labels = gold_and_crowd(shared / "data")
    gold, crowd = unsafe_and_safe(labels)
    found = judge_accuracy(gold, crowd)
    assert number(found.accuracy) == pytest.approx(121 / 350)
    assert found.kappa.high is not None
    assert found.kappa.high < 0, "worse than chance beyond doubt"
    (alarm,) = polarity_tripwire(gold, crowd, clusters=["safety"] * len(gold))
    assert number(alarm.posterior) > 0.999
    assert not alarm.raised, "the other way round they would agree on 65%, and the wire asks for 80%"
    assert alarm.suspected, "but they agree less than chance would have it"
    (finding,) = inverted_metrics(gold, crowd, clusters=["safety"] * len(gold))
    assert (finding.code, finding.subject) == ("inversion_suspected", "safety")
    assert (
        "35% of 350 items and would on 65% the other way round, which is less than chance" in finding.sentence
    )
    assert inverted_metrics(gold, 1 - crowd, clusters=["safety"] * len(gold)) == ()
    (doubt,) = coding_findings(gold.tolist(), crowd.tolist(), name="safety")
    assert doubt.code == "miscoded_labels"
    assert "35% of the items, and on 65%" in doubt.sentence
    assert coding_findings(labels["gold"].tolist(), labels["crowd"].tolist(), name="safety") == ()


def test_the_kappa_published_for_a_dices_judge_is_itself_enough_to_doubt_the_coding(shared: Path) -> None:
    # With 175 replies a class the published -0.20 (GPT-4o against the experts) is an accuracy of .40, whatever the
    # judge's margins are.
    safe = (dices_majority(shared / "data", "expert") == "No").to_numpy(np.int64)
    judge = safe.copy()
    for label in (0, 1):
        judge[np.flatnonzero(safe == label)[:105]] = 1 - label
    found = judge_accuracy(safe, judge)
    assert number(found.accuracy) == pytest.approx(0.40)
    assert number(found.kappa) == pytest.approx(-0.20)
    (finding,) = inverted_metrics(safe, judge, clusters=["safety"] * len(safe))
    assert finding.code == "inversion_suspected"
    (doubt,) = coding_findings(safe.tolist(), judge.tolist(), name="GPT-4o")
    assert doubt.code == "miscoded_labels"
    assert coding_findings(safe.tolist(), (1 - judge).tolist(), name="GPT-4o") == ()


def texts_read(data: Path) -> dict[Answered, str]:
    """The hash of each answer that people rated; upstream's judges scored answers generated anew."""
    people = humanebench_people(data)
    return {unit: text_hash(text) for unit, text in zip(people["unit"].tolist(), people["text"], strict=True)}


def test_scores_of_answers_without_their_text_are_refused_item_by_item(shared: Path) -> None:
    data = shared / "data"
    read = texts_read(data)
    judged = dict.fromkeys(humanebench_judges(data, "human_slice")["unit"])  # upstream recorded no text
    found = item_identity(read, judged)
    assert not found.comparable
    assert set(found.unknown) == set(read)
    assert found.findings[0].subject == found.unknown[0] == next(iter(read))
    assert found.findings[0].code == "text_unknown"


def test_another_answer_of_the_same_model_to_the_same_prompt_is_another_item(shared: Path) -> None:
    read = texts_read(shared / "data")
    in_persona = {
        persona: {(unit.prompt, unit.target): text for unit, text in read.items() if unit.persona == persona}
        for persona in ("baseline", "good")
    }
    found = item_identity(in_persona["baseline"], in_persona["good"])
    assert not found.comparable
    assert not found.same
    assert len(found.different) == 16
    assert {finding.code for finding in found.findings} == {"other_text"}
    assert found.findings[0].subject == next(iter(in_persona["baseline"]))
    assert "judged on another text than people read" in found.findings[0].sentence


def test_the_curated_answers_are_the_texts_that_people_read(shared: Path) -> None:
    data = shared / "data"
    golden = {unit: text_hash(text) for unit, text in humanebench_golden(data).items()}
    found = item_identity(texts_read(data), golden)
    assert found.comparable
    assert set(found.same) == set(humanebench_judges(data, "golden_24")["unit"])


def test_line_ends_alone_do_not_make_another_text(shared: Path) -> None:
    people = humanebench_people(shared / "data")
    exported = people["text"].str.replace("\n", "\r\n")
    assert not exported.equals(people["text"])
    assert item_identity(
        dict(zip(people["unit"], people["text"].map(text_hash), strict=True)),
        dict(zip(people["unit"], exported.map(text_hash), strict=True)),
    ).comparable


def test_what_the_comparison_across_texts_would_have_said(shared: Path) -> None:
    data = shared / "data"
    refused, valid = ensemble_and_people(data, "human_slice"), ensemble_and_people(data, "golden_24")
    assert (len(refused), equal_signs(refused)) == (48, pytest.approx(40))
    assert (len(valid), equal_signs(valid)) == (24, pytest.approx(23))
    assert kappa_of_means(refused) == pytest.approx(0.739, abs=5e-4)
    assert kappa_of_means(valid) == pytest.approx(0.905, abs=5e-4)


def label_and_winner(data: Path, judge: str, order: str) -> pd.DataFrame:
    frame = llmbar(data, judge)
    return frame[frame["rater"].isin(["label", order])].reset_index(drop=True)


def as_upstream_codes(frame: pd.DataFrame) -> pd.DataFrame:
    """The winner 2 as 0, beside a label that stays 2."""
    miscoded = (frame["rater"] != "label") & (frame["value"] == 2)
    return frame.assign(value=frame["value"].mask(miscoded, 0))


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("judge", LLMBAR_JUDGES)
def test_a_winner_coded_as_nobody_is_refused_by_row_and_value(shared: Path, judge: str, order: str) -> None:
    frame = as_upstream_codes(label_and_winner(shared / "data", judge, order))
    first = int(np.argmax(frame["value"] == 0)) + 1
    with pytest.raises(RatingsError, match=rf"^row {first}: 0 is not one of the declared categories 1, 2"):
        Ratings.from_frame(frame, categories=(1, 2))


def test_a_winner_left_as_a_word_is_refused_too(shared: Path) -> None:
    frame = label_and_winner(shared / "data", "GPT-4", "unswapped")
    words = frame.assign(
        value=[
            str(value) if rater == "unswapped" else value
            for rater, value in zip(frame["rater"], frame["value"].tolist(), strict=True)
        ]
    )
    with pytest.raises(RatingsError, match=r"^row 101: '[12]' is not one of the declared categories 1, 2"):
        Ratings.from_frame(words, categories=(1, 2))


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("judge", LLMBAR_JUDGES)
def test_the_miscoding_explains_the_published_kappa_and_is_doubted_where_0_is_declared(
    shared: Path, judge: str, order: str
) -> None:
    data = shared / "data"
    frame = as_upstream_codes(label_and_winner(data, judge, order))
    kappa = cohen_kappa(Ratings.from_frame(frame, categories=(0, 1, 2)), "label", order)
    assert number(kappa) == pytest.approx(llmbar_published(data, judge)[ORDERS[order]], abs=1e-12)
    wide = frame.pivot(index="unit", columns="rater", values="value")
    (doubt,) = coding_findings(wide["label"].tolist(), wide[order].tolist(), name=judge)
    assert doubt.code == "miscoded_labels"
    assert "0 as 2" in doubt.sentence


def test_the_published_mean_kappa_is_that_of_the_two_miscoded_ones(shared: Path) -> None:
    for judge in LLMBAR_JUDGES:
        published = llmbar_published(shared / "data", judge)
        mean = (published["kappa_False"] + published["kappa_True"]) / 2
        assert published["kappa_average"] == pytest.approx(mean, abs=1e-12)


@pytest.mark.parametrize(
    ("judge", "order", "real"),
    [
        ("GPT-4", "unswapped", 0.898),
        ("GPT-4", "swapped", 0.918),
        ("ChatGPT", "unswapped", 0.603),
        ("ChatGPT", "swapped", 0.638),
        ("LLaMA2", "unswapped", 0.573),
        ("LLaMA2", "swapped", 0.631),
    ],
)
def test_the_real_kappa_of_a_judge_with_the_label_comes_out(
    shared: Path, judge: str, order: str, real: float
) -> None:
    frame = label_and_winner(shared / "data", judge, order)
    by_raters = cohen_kappa(Ratings.from_frame(frame, categories=(1, 2)), "label", order)
    assert number(by_raters) == pytest.approx(real, abs=5e-4)
    first_wins = frame.pivot(index="unit", columns="rater", values="value") == 1
    as_judge = judge_accuracy(first_wins["label"], first_wins[order]).kappa
    assert number(as_judge) == pytest.approx(number(by_raters), abs=1e-12)
    wide = frame.pivot(index="unit", columns="rater", values="value")
    assert coding_findings(wide["label"].tolist(), wide[order].tolist(), name=judge) == ()
