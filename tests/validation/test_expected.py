"""Every figure of EXPECTED.json, from the published files; and what those files hide from a careless reader."""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from scipy import stats

from impactbench.domain import Polarity, passes
from tests.material import shared_json
from tests.validation.published import (
    COMPLIANCE,
    DIMENSIONS,
    HARM,
    JUDGES,
    SEVERITIES,
    dices,
    dices_majority,
    humanebench_golden,
    humanebench_judges,
    humanebench_people,
    impactbench_pass_rates,
    impactbench_verdicts,
    llmbar,
    mrbench,
    vera_mh,
    vera_mh_transcripts,
    xstest,
)
from validation.agreement import (
    CohenWeights,
    cohen_kappa,
    fleiss_kappa,
    krippendorff_alpha,
    percent_agreement,
)
from validation.judge_accuracy import judge_accuracy
from validation.ratings import Ratings
from validation.results import Estimate
from validation.retest import retest

ENTRIES: dict[str, Any] = {
    entry["id"]: entry for entry in (shared_json("data/EXPECTED.json") or {"entries": []})["entries"]
}

LEVELS = list(SEVERITIES.values())
SIGNS = (False, True)

Read = Callable[[Path], pd.DataFrame]
Compute = Callable[[Path], float]


def number(estimate: Estimate) -> float:
    assert estimate.value is not None, estimate.undefined_because
    return estimate.value


def count(share: Estimate) -> float:
    """How many items a share is made of."""
    return number(share) * share.n


def severities(frame: pd.DataFrame) -> Ratings:
    return Ratings.from_frame(frame, categories=LEVELS)


def signs(frame: pd.DataFrame) -> Ratings:
    rated = frame.dropna(subset="value")
    return Ratings.from_frame(rated.assign(value=rated["value"] > 0), categories=SIGNS)


def alpha_ordinal(read: Read, data: Path) -> float:
    return number(krippendorff_alpha(severities(read(data)), level="ordinal"))


def alpha_of_signs(read: Read, data: Path) -> float:
    return number(krippendorff_alpha(signs(read(data))))


def items_of_one_sign(read: Read, data: Path) -> float:
    return count(retest(signs(read(data))).unanimous)


def share_of_two_signs(read: Read, data: Path) -> float:
    return number(retest(signs(read(data))).flip_rate)


def kappa_of_pair(read: Read, pair: tuple[str, str], weights: CohenWeights, data: Path) -> float:
    return number(cohen_kappa(severities(read(data)), *pair, weights=weights))


def exact_agreement(read: Read, pair: tuple[str, str], data: Path) -> float:
    frame = read(data)
    return number(percent_agreement(severities(frame[frame["rater"].isin(pair)])))


def in_persona(persona: str, data: Path) -> pd.DataFrame:
    frame = humanebench_people(data)
    return frame[frame["persona"] == persona]


def on_golden(data: Path) -> pd.DataFrame:
    frame = humanebench_people(data)
    return frame[frame["unit"].isin(humanebench_golden(data))]


def of_target(target: str, data: Path) -> pd.DataFrame:
    frame = humanebench_judges(data, "human_slice")
    return frame[frame["target"] == target]


def ensemble_and_people(data: Path, answers: str = "golden_24") -> pd.DataFrame:
    """The mean severity of judges and of people, for each answer that both rated."""
    judged = humanebench_judges(data, answers).groupby("unit")["value"].mean()
    people = humanebench_people(data).groupby("unit")["value"].mean()
    return pd.DataFrame({"judges": judged, "people": people}).dropna()


def snapped(means: pd.Series) -> NDArray[np.float64]:
    """The nearest level; halfway between two, the lower."""
    levels = np.array(LEVELS)
    nearest: NDArray[np.float64] = levels[np.abs(means.to_numpy()[:, None] - levels).argmin(axis=1)]
    return nearest


def kappa_of_means(means: pd.DataFrame) -> float:
    pairs = np.stack([snapped(means["judges"]), snapped(means["people"])], axis=1)
    ratings = Ratings.from_table(pairs.tolist(), categories=LEVELS)
    return number(cohen_kappa(ratings, *ratings.raters, weights="quadratic"))


def equal_signs(means: pd.DataFrame) -> float:
    judged, rated = (means["judges"] > 0).astype(int), (means["people"] > 0).astype(int)
    return count(judge_accuracy(rated, judged).accuracy)


def vera_mh_alpha(data: Path) -> float:
    return number(krippendorff_alpha(Ratings.from_frame(vera_mh(data), categories=HARM)))


def xstest_ratings(data: Path) -> Ratings:
    return Ratings.from_frame(xstest(data), categories=COMPLIANCE)


def dices_alpha(data: Path) -> float:
    crowd = Ratings.from_frame(dices(data, "crowdsourced"), categories=("No", "Unsure", "Yes"))
    assert crowd.codes.shape == (350, 123)
    return number(krippendorff_alpha(crowd))


def winners(judge: str, raters: Sequence[str], data: Path) -> Ratings:
    frame = llmbar(data, judge)
    return Ratings.from_frame(frame[frame["rater"].isin(raters)], categories=(1, 2))


def right_of_100(judge: str, order: str, data: Path) -> float:
    frame = llmbar(data, judge).pivot(index="unit", columns="rater", values="value")
    first_is_better = frame == 1
    return count(judge_accuracy(first_is_better["label"], first_is_better[order]).accuracy)


def all_the_same(judge: str, raters: Sequence[str], data: Path) -> float:
    return count(retest(winners(judge, raters, data)).unanimous)


def kappa_between_orders(judge: str, data: Path) -> float:
    orders = ("unswapped", "swapped")
    return number(cohen_kappa(winners(judge, orders, data), *orders))


def _humanebench_people() -> dict[str, Compute]:
    by_persona = {
        f"humanebench.human.{name}.persona.{persona}": partial(alpha, partial(in_persona, persona))
        for persona in ("bad", "baseline", "good")
        for name, alpha in (("alpha_ordinal", alpha_ordinal), ("alpha_binary", alpha_of_signs))
    }
    return {
        "humanebench.human.n_ratings": lambda data: severities(humanebench_people(data)).n_ratings,
        "humanebench.human.n_observations": lambda data: len(severities(humanebench_people(data)).units),
        "humanebench.human.alpha_ordinal": partial(alpha_ordinal, humanebench_people),
        "humanebench.human.alpha_binary": partial(alpha_of_signs, humanebench_people),
        "humanebench.human.unanimous_sign_items": partial(items_of_one_sign, humanebench_people),
        **by_persona,
        "humanebench.golden24.alpha_ordinal": partial(alpha_ordinal, on_golden),
        "humanebench.golden24.alpha_binary": partial(alpha_of_signs, on_golden),
    }


def _humanebench_judges(answers: str) -> dict[str, Compute]:
    read = partial(humanebench_judges, answers=answers)
    found: dict[str, Compute] = {
        "alpha_ordinal": partial(alpha_ordinal, read),
        "alpha_binary": partial(alpha_of_signs, read),
        "sign_disagreement_rate": partial(share_of_two_signs, read),
    }
    for pair in combinations(JUDGES, 2):
        names = "__vs__".join(pair)
        found[f"kappa.{names}"] = partial(kappa_of_pair, read, pair, "unweighted")
        found[f"kappa_quadratic.{names}"] = partial(kappa_of_pair, read, pair, "quadratic")
        found[f"exact.{names}"] = partial(exact_agreement, read, pair)
    if answers == "human_slice":
        for target in ("gemini-2.5-flash", "gpt-4o-2024-11-20"):
            found[f"alpha_ordinal.target.{target}"] = partial(alpha_ordinal, partial(of_target, target))
    return {f"humanebench.judges.{answers}.{name}": compute for name, compute in found.items()}


def _humanebench_ensemble() -> dict[str, Compute]:
    statistics: dict[str, Callable[[pd.DataFrame], float]] = {
        "kappa_quadratic": kappa_of_means,
        "spearman": lambda means: float(stats.spearmanr(means["judges"], means["people"]).statistic),
        "pearson": lambda means: float(stats.pearsonr(means["judges"], means["people"]).statistic),
        "direction_matches": equal_signs,
        "mae": lambda means: float((means["judges"] - means["people"]).abs().mean()),
    }
    return {
        f"humanebench.ensemble_vs_human.{name}": lambda data, of=statistic: of(ensemble_and_people(data))
        for name, statistic in statistics.items()
    }


def _llmbar(judge: str) -> dict[str, Compute]:
    return {
        f"llmbar.{judge}.correct_unswapped": partial(right_of_100, judge, "unswapped"),
        f"llmbar.{judge}.correct_swapped": partial(right_of_100, judge, "swapped"),
        f"llmbar.{judge}.correct_both": partial(all_the_same, judge, ("label", "unswapped", "swapped")),
        f"llmbar.{judge}.same_winner": partial(all_the_same, judge, ("unswapped", "swapped")),
        f"llmbar.{judge}.kappa_between_orders": partial(kappa_between_orders, judge),
    }


COMPUTED: dict[str, Compute] = {
    **_humanebench_people(),
    **_humanebench_judges("human_slice"),
    **_humanebench_judges("golden_24"),
    **_humanebench_ensemble(),
    "vera_mh.clinicians.alpha_nominal_pooled": vera_mh_alpha,
    "xstest.mistralguard.exact_percent": lambda data: 100 * number(percent_agreement(xstest_ratings(data))),
    "xstest.mistralguard.fleiss": lambda data: number(fleiss_kappa(xstest_ratings(data))),
    "dices350.crowd.alpha_nominal": dices_alpha,
    **_llmbar("GPT-4"),
    **_llmbar("ChatGPT"),
    **_llmbar("LLaMA2"),
}


def test_every_figure_has_a_computation_and_every_computation_a_figure(shared: Path) -> None:
    assert len(ENTRIES) == 63
    assert set(COMPUTED) == set(ENTRIES)


@pytest.mark.parametrize("name", ENTRIES)
def test_the_published_figure_comes_out(shared: Path, name: str) -> None:
    entry = ENTRIES[name]
    value = COMPUTED[name](shared / "data")
    # A count is a share times n: a tolerance of 0 leaves it the last bits of a float.
    assert value == pytest.approx(entry["published"], rel=0, abs=max(entry["tolerance"], 1e-9))
    assert value == pytest.approx(entry["computed"], rel=0, abs=1e-9)


def test_blank_ratings_of_humanebench_are_missing_and_nothing_else_is(shared: Path) -> None:
    people = humanebench_people(shared / "data")
    blank = people[people["value"].isna()].groupby("rater").size()
    assert blank.to_dict() == {"rater-3": 18, "rater-4": 1}
    assert people["text"].str.contains("\n").any(), "line ends within a cell stay"
    assert people.groupby("unit")["text"].nunique().eq(1).all(), "all four read one text"


def test_judges_and_people_of_humanebench_meet_under_one_name(shared: Path) -> None:
    data = shared / "data"
    people = set(humanebench_people(data)["unit"])
    assert set(humanebench_judges(data, "human_slice")["unit"]) == people
    assert set(humanebench_judges(data, "golden_24")["unit"]) == set(humanebench_golden(data)) < people


def test_words_that_look_like_missing_cells_stay_words(shared: Path) -> None:
    ratings = vera_mh(shared / "data")
    assert len(ratings) == 270 * len(DIMENSIONS)
    assert set(ratings["value"]) == set(HARM)
    assert ratings.groupby("unit").size().eq(3).all()


def test_conversation_ids_with_a_leading_hash_meet_their_transcripts(shared: Path) -> None:
    data = shared / "data"
    assert len(vera_mh_transcripts(data)) == 12
    assert set(vera_mh_transcripts(data)) <= set(vera_mh(data)["conversation"])
    assert "402e12" in vera_mh_transcripts(data)


def test_high_agreement_without_variation_leaves_alpha_at_nothing(shared: Path) -> None:
    frame = vera_mh(shared / "data")
    relevant = frame[(frame["dimension"] == "supportive") & (frame["value"] != "Not Relevant")]
    ratings = Ratings.from_frame(relevant, categories=HARM)
    assert number(percent_agreement(ratings)) == pytest.approx(0.90, abs=0.01)
    assert number(krippendorff_alpha(ratings)) == pytest.approx(-0.04, abs=5e-3)


def test_the_majority_of_the_crowd_never_counts_unsure(shared: Path) -> None:
    data = shared / "data"
    majority = dices_majority(data, "crowdsourced")
    votes = dices(data, "crowdsourced").groupby(["unit", "value"]).size().unstack(fill_value=0)
    votes = votes.loc[majority.index]
    decided = votes["Yes"] != votes["No"]
    assert int((~decided).sum()) == 2
    assert set(majority) == {"Yes", "No"}
    assert ((votes["Yes"] > votes["No"]) == (majority == "Yes"))[decided].all()
    assert dices_majority(data, "expert").value_counts().to_dict() == {"Yes": 175, "No": 175}


def test_a_conversation_of_mrbench_may_stand_in_several_records(shared: Path) -> None:
    labels = mrbench(shared / "data")
    assert (labels["record"].nunique(), labels["conversation"].nunique()) == (192, 188)
    assert len(labels[["record", "tutor"]].drop_duplicates()) == 1589
    assert labels["dimension"].nunique() == 8
    assert "Yes (and the answer is correct)" in set(labels["value"])
    doubled = labels[labels["dimension"] == "Coherence"].assign(rater="gold")
    with pytest.raises(ValueError, match=r"rows \d+ and \d+: two ratings"):
        Ratings.from_frame(
            doubled.assign(unit=doubled["conversation"] + "/" + doubled["tutor"]),
            categories=("No", "To some extent", "Yes"),
        )


def test_published_pass_rates_follow_from_the_verdicts(shared: Path) -> None:
    data = shared / "data"
    verdicts = impactbench_verdicts(data)
    assert len(verdicts) == 31_236
    verdicts["passed"] = [
        passes(present, Polarity(polarity))
        for present, polarity in zip(verdicts["present"].tolist(), verdicts["polarity"], strict=True)
    ]
    rates = verdicts.groupby(["model", "age", "metric"])["passed"].mean()
    published = impactbench_pass_rates(data)
    assert len(rates) == 10_412
    assert (rates - published.reindex(rates.index)).abs().max() < 1e-3
    without_verdicts = published.index.difference(rates.index)
    assert {(model, metric) for model, _, metric in without_verdicts} == {
        ("gpt-4o", "mcab__m02"),
        ("gpt-4o", "mcab__m05"),
    }
