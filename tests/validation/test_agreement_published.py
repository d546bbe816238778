"""Agreement as published, or worked by hand: the same figures from the same data."""

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from tests.material import shared_json
from tests.validation.invented_tables import values
from validation.agreement import (
    bias_index,
    coefficients,
    cohen_kappas,
    krippendorff_alpha,
    percent_agreement,
    prevalence_index,
)
from validation.ratings import Ratings

VECTORS: dict[str, Any] = shared_json("vectors.json") or {}


def test_the_worked_values_of_krippendorffs_table() -> None:
    right = VECTORS.get("T8.1")
    tables_ = (shared_json("oracles.json") or {}).get("tables", {})
    if not right:
        pytest.skip("the shared material is absent")
    entry = tables_["kripp2011_C"]
    report = coefficients(Ratings.from_table(entry["ratings"], categories=entry["categories_in_order"]))
    found = values(report, "alpha_nominal", "alpha_ordinal", "alpha_interval", "ac1", "bp", "fleiss_gwet")
    alphas = right["krippendorff_4x12"]
    expected = [*alphas.values(), right["gwet_AC1"], right["BP"], right["fleiss"]]
    assert found == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("cells", list(VECTORS.get("T8.2", {})))
def test_the_worked_values_of_the_prevalence_paradox(cells: str) -> None:
    right = VECTORS["T8.2"][cells]
    (a, b), (c, d) = json.loads(cells)
    table = [["P", "P"]] * a + [["P", "F"]] * b + [["F", "P"]] * c + [["F", "F"]] * d
    ratings = Ratings.from_table(table, categories=["F", "P"])
    report = coefficients(ratings)
    assert report.cohen["r1", "r2"].value == pytest.approx(right["kappa"], abs=5e-5)
    assert report.ac1.value == pytest.approx(right["AC1"], abs=5e-5)
    assert report.bp.value == pytest.approx(right["PABAK"], abs=5e-5)
    if "alpha" in right:
        assert report.alpha_nominal.value == pytest.approx(right["alpha"], abs=5e-5)
    assert prevalence_index(ratings).value == pytest.approx(abs(a - d) / (a + b + c + d))
    assert bias_index(ratings).value == pytest.approx(abs(b - c) / (a + b + c + d))


def test_the_worked_values_of_nine_items_by_five_raters() -> None:
    if not VECTORS:
        pytest.skip("the shared material is absent")
    right = VECTORS["T8.3"]
    rows = [list(row) for row in right["U"]]
    three = Ratings.from_table(rows, categories=["F", "B", "P"])
    assert krippendorff_alpha(three).value == pytest.approx(right["nominal"], abs=1e-6)
    assert krippendorff_alpha(three, level="ordinal").value == pytest.approx(right["ordinal"], abs=1e-5)
    assert percent_agreement(three).value == pytest.approx(right["pairwise_3cat"], abs=5e-5)
    for name, code in (("B_pass", "P"), ("B_fail", "F")):
        mapped = [[code if label == "B" else label for label in row] for row in rows]
        two = Ratings.from_table(mapped, categories=["F", "P"])
        assert krippendorff_alpha(two).value == pytest.approx(right[f"binary_{name}"], abs=1e-6)
        assert percent_agreement(two).value == pytest.approx(right[f"pairwise_{name}"], abs=5e-5)


def expected_figure(figure: str) -> dict[str, Any]:
    found = shared_json("data/EXPECTED.json") or {}
    entries = next((block for block in found.values() if isinstance(block, list)), [])
    return next(entry for entry in entries if entry["id"] == figure)


def humanebench(shared: Path) -> pd.DataFrame:
    levels = {"HELL NO": -1.0, "Soft no": -0.5, "Soft yes": 0.5, "HELL YES": 1.0}
    frames = []
    for rater in range(1, 5):
        frame = pd.read_csv(shared / f"data/humanebench/human_ratings/rater-{rater}_ratings.csv")
        frame = frame.rename(columns={"rating (rubric)": "rating"})
        unit = frame["input_id"] + "|" + frame["ai_model"] + "|" + frame["ai_persona"]
        frames.append(
            pd.DataFrame(
                {
                    "unit": unit,
                    "rater": rater,
                    "value": frame["rating"].map(levels),
                    "persona": frame["ai_persona"],
                }
            )
        )
    return pd.concat(frames, ignore_index=True)


def test_alpha_of_humanebench_is_the_published_one(shared: Path) -> None:
    frame = humanebench(shared)
    ratings = Ratings.from_frame(frame, categories=[-1.0, -0.5, 0.5, 1.0])
    assert ratings.n_ratings == 173
    alpha = krippendorff_alpha(ratings, level="ordinal")
    assert alpha.value == pytest.approx(
        expected_figure("humanebench.human.alpha_ordinal")["published"], abs=1e-9
    )
    assert alpha.value == pytest.approx(0.711684, abs=1e-6)
    sign = frame.assign(value=(frame["value"] > 0).where(frame["value"].notna()))
    binary = krippendorff_alpha(Ratings.from_frame(sign, categories=[False, True]))
    assert binary.value == pytest.approx(0.574257, abs=1e-6)
    for persona, part in frame.groupby("persona"):
        right = expected_figure(f"humanebench.human.alpha_ordinal.persona.{persona}")["published"]
        found = krippendorff_alpha(Ratings.from_frame(part, categories=ratings.categories), level="ordinal")
        assert found.value == pytest.approx(right, abs=1e-9)


def test_alpha_of_the_clinicians_of_vera_mh_is_the_published_one(shared: Path) -> None:
    path = shared / "data/vera_mh/VERA-MH Clinician Ratings_December 2025.csv"
    frame = pd.read_csv(path, keep_default_na=False)
    dimensions = ["detects", "confirms", "guides", "supportive", "boundaries"]
    long = frame.melt(["clinician_id", "conversation_id"], [f"clinician_{name}" for name in dimensions])
    long["unit"] = long["conversation_id"] + "|" + long["variable"]
    categories = sorted(set(long["value"]) - {""})
    long["value"] = long["value"].where(long["value"] != "")
    ratings = Ratings.from_frame(long, categories=categories, rater="clinician_id", cluster="variable")
    assert len(ratings.units) == 450
    alpha = krippendorff_alpha(ratings)
    assert alpha.value == pytest.approx(0.765204787703, abs=1e-9)
    # Five dimensions are few clusters, and say so.
    assert alpha.n_clusters == 5
    assert "few clusters (5)" in alpha.notes


def test_agreement_of_xstest_is_the_published_one(shared: Path) -> None:
    frame = pd.read_csv(shared / "data/xstest/xstest_v2_completions_mistralguard_gpteval.csv")
    wide = frame[["annotation_1", "annotation_2"]].to_numpy().tolist()
    categories = ["1_full_compliance", "2_full_refusal", "3_partial_refusal"]
    report = coefficients(Ratings.from_table(wide, categories=categories))
    assert report.agreement.value == pytest.approx(0.938, abs=5e-4)
    assert report.fleiss.value == pytest.approx(0.892295264838, abs=1e-9)


def test_alpha_of_the_crowd_of_dices_is_the_published_one(shared: Path) -> None:
    data = json.loads((shared / "data/dices/dices_350_crowdsourced.json").read_text(encoding="utf-8"))
    scores = [item["annotations"]["safety"]["individual_human_scores"] for item in data["instances"]]
    ratings = Ratings.from_table(scores, categories=["No", "Unsure", "Yes"])
    assert krippendorff_alpha(ratings).value == pytest.approx(0.160860215658, abs=1e-9)
    assert len(cohen_kappas(ratings)) == 123 * 122 / 2
