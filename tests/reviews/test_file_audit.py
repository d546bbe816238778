"""A whole audit from plain files: published data come out as published, and what files cannot say is not guessed."""

import csv
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from impactbench.adapters import ImportRefused
from reviews.audit.items import Judge, judged_items, judges_of
from reviews.audit.own_family import own_family
from reviews.files.audit import graded
from reviews.files.reading import ItemColumns, Source
from reviews.files.tables import RATINGS, VERDICTS, FileOptions, FileTables, read_file_tables
from reviews.report.figures import polarity_alarms
from tests.material import shared_json
from tests.validation.published import JUDGES, dices_majority
from validation.judge_accuracy import judge_accuracy
from validation.results import Estimate

EXPECTED = {entry["id"]: entry for entry in (shared_json("data/EXPECTED.json") or {"entries": []})["entries"]}
HUMANEBENCH = FileOptions(
    ratings=replace(
        RATINGS, item=("input_id", "ai_model", "ai_persona"), value=("rating", "rating (rubric)")
    ),
    verdicts=replace(VERDICTS, item=("sample_id", "model", "persona"), who="judge_name", value=("severity",)),
    items=ItemColumns(
        metric=("principle",),
        metric_from="input_id=(.+)-[0-9]+",
        target=("ai_model", "model"),
        group=("ai_persona", "persona"),
    ),
    scale="HELL NO=-1,Soft no=-0.5,Soft yes=0.5,HELL YES=1",
    passes=("Soft yes", "HELL YES"),
    fails=("Soft no", "HELL NO"),
    rename={"gpt-4o-2024-11-20": "gpt-4o", "bad_persona": "bad", "good_persona": "good"},
)


@pytest.fixture(scope="module")
def humanebench(shared: Path) -> FileTables:
    folder = shared / "data/humanebench"
    return read_file_tables(
        sorted(folder.glob("human_ratings/*.csv")),
        [folder / "tables/inter_judge_raw_golden_24.csv"],
        options=HUMANEBENCH,
    )


def expect(estimate: Estimate, entry: str, *, times: float = 1) -> None:
    found = EXPECTED[f"humanebench.{entry}"]
    assert estimate.value is not None, entry
    assert estimate.value * times == pytest.approx(found["published"], abs=found["tolerance"] + 1e-12), entry


def test_the_published_figures_of_humanebench_come_out_of_its_files(humanebench: FileTables) -> None:
    whole, *groups = graded(humanebench)
    judges, means = whole.judges, whole.judges_and_experts
    assert judges is not None
    assert means is not None
    expect(whole.experts.alpha_ordinal, "human.alpha_ordinal")
    assert whole.experts.n_ratings == EXPECTED["humanebench.human.n_ratings"]["published"]
    for group in groups:
        expect(group.experts.alpha_ordinal, f"human.alpha_ordinal.persona.{group.group}")
    for pair, exact in whole.judges_exact.items():
        name = "__vs__".join(sorted(map(str, pair), key=JUDGES.index))
        expect(exact, f"judges.golden_24.exact.{name}")
        expect(judges.cohen[pair], f"judges.golden_24.kappa.{name}")
        expect(judges.cohen_quadratic[pair], f"judges.golden_24.kappa_quadratic.{name}")
    assert len(whole.judges_exact) == 3
    expect(judges.alpha_ordinal, "judges.golden_24.alpha_ordinal")
    expect(means.kappa_quadratic, "ensemble_vs_human.kappa_quadratic")
    expect(means.pearson, "ensemble_vs_human.pearson")
    expect(means.spearman, "ensemble_vs_human.spearman")
    expect(means.same_side, "ensemble_vs_human.direction_matches", times=24)
    expect(means.mean_absolute_difference, "ensemble_vs_human.mae")


def test_the_judges_alphas_on_the_slice_that_people_rated_come_out_of_its_file(shared: Path) -> None:
    folder = shared / "data/humanebench"
    slice_of_people = read_file_tables(
        sorted(folder.glob("human_ratings/*.csv")),
        [folder / "tables/inter_judge_raw_human_slice.csv"],
        options=HUMANEBENCH,
    )
    judges = graded(slice_of_people)[0].judges
    assert judges is not None
    expect(judges.alpha_ordinal, "judges.human_slice.alpha_ordinal")
    for target, entry in (("gpt-4o", "gpt-4o-2024-11-20"), ("gemini-2.5-flash", "gemini-2.5-flash")):
        own = slice_of_people.verdicts["unit"].map(lambda unit, target=target: target in str(unit))
        one = graded(replace(slice_of_people, verdicts=slice_of_people.verdicts[own]))[0].judges
        assert one is not None
        expect(one.alpha_ordinal, f"judges.human_slice.alpha_ordinal.target.{entry}")


def test_own_family_gets_the_smallest_effect_that_could_be_seen_in_place_of_a_finding(
    humanebench: FileTables,
) -> None:
    found = {judge.model: own_family(humanebench.study, judge) for judge in judges_of(humanebench.study)}
    levels = {name: one.levels["family"] for name, one in found.items()}
    assert {name: one.verdict for name, one in levels.items()} == {
        "claude-4.5-sonnet": "not_identified",
        "gpt-5.1": "not_detected",
        "gemini-2.5-pro": "not_detected",
    }
    for name in ("gpt-5.1", "gemini-2.5-pro"):
        assert levels[name].n_own_fail + levels[name].n_other_fail == 7
        assert levels[name].detectable is not None
        assert levels[name].detectable > 0.5, "seven fails show next to nothing, and that is what is said"


def write(path: Path, header: Sequence[str], rows: Iterable[Sequence[object]]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([header, *rows])
    return path


def the_judge(tables: FileTables) -> Judge:
    (judge,) = judges_of(tables.study)
    return judge


def test_polarity_may_go_by_item(shared: Path) -> None:
    file = shared / "data/xstest/xstest_v2_completions_mistralguard_gpteval.csv"
    options = FileOptions(
        ratings=Source(
            kind="", item=("id",), who="rater", value=("label",), wide=("annotation_1", "annotation_2")
        ),
        verdicts=Source(kind="verdict", item=("id",), who="judge", value=("verdict",), wide=("gpt4_label",)),
        items=ItemColumns(negative="type=contrast_*"),
        scale="2_full_refusal,3_partial_refusal,1_full_compliance",
        passes=("1_full_compliance",),
        fails=("2_full_refusal", "3_partial_refusal"),
        ratings_say="presence",
        verdicts_say="presence",
    )
    tables = read_file_tables([file], [file], options=options)
    (whole,) = graded(tables)
    assert whole.experts.fleiss.value == pytest.approx(
        EXPECTED["xstest.mistralguard.fleiss"]["published"], abs=0.005
    )
    items = judged_items(tables.study, the_judge(tables))
    assert items["polarity"].value_counts().to_dict() == {"positive": 250, "negative": 200}
    assert tables.study.metrics["title"].tolist() == ["negative items", "positive items"]
    assert "count as two metrics, 200 negative items and 250 positive items" in tables.notes[0]
    refused_what_it_should = tables.study.assignments[tables.study.assignments["polarity"] == "negative"]
    assert (refused_what_it_should["label"] == "pass").mean() > 0.8, "refusing is what passes there"
    right = judge_accuracy(items["reference"], items["judge"]).accuracy.value
    upside_down = np.where(items["polarity"] == "negative", 1 - items["judge"], items["judge"])
    wrong = judge_accuracy(items["reference"], upside_down).accuracy.value
    assert right is not None
    assert wrong is not None
    assert right > 0.8 > 0.65 > wrong


@pytest.mark.parametrize(("turned", "raised"), [(True, True), (False, False)])
def test_a_question_asked_upside_down_trips_the_wire(
    shared: Path, tmp_path: Path, turned: bool, raised: bool
) -> None:
    gold = dices_majority(shared / "data", "expert")
    ratings = write(
        tmp_path / "gold.csv", ["item_id", "rater_id", "label"], [(k, "gold", v) for k, v in gold.items()]
    )
    judged = {key: {"Yes": "No", "No": "Yes"}[word] if turned else word for key, word in gold.items()}
    verdicts = write(
        tmp_path / "judge.csv",
        ["item_id", "judge_id", "verdict"],
        [(k, "judge", v) for k, v in judged.items()],
    )
    tables = read_file_tables(
        [ratings], [verdicts], options=FileOptions(scale="Yes,No", passes=("No",), fails=("Yes",))
    )
    found = polarity_alarms(judged_items(tables.study, the_judge(tables)))
    assert [one.code for one in found] == (["inverted_metric"] if raised else [])


HEADER = ["item_id", "rater_id", "label"]
JUDGED = ["item_id", "judge_id", "verdict"]
GOOD = [("a", "r1", "pass"), ("a", "r2", "fail")]
SAID = [("a", "j", "pass")]


@pytest.mark.parametrize(
    ("ratings", "verdicts", "options", "sentence"),
    [
        (
            [("a", "r1", "maybe")],
            SAID,
            {"scale": "fail,borderline,pass"},
            "ratings.csv, line 2: 'maybe' is not one of",
        ),
        (
            [("a", "r1", "maybe")],
            SAID,
            {},
            "no known scale; name all of them from worst to best with --scale",
        ),
        (GOOD, [("b", "j", "pass")], {}, "no item has both a rating and a verdict"),
        (
            [*GOOD, ("a", "r1", "pass")],
            SAID,
            {},
            "ratings.csv, line 4: 'r1' has already said something of item 'a'",
        ),
        (GOOD, SAID, {"verdicts_say": "presence"}, "needs the polarity of item 'a'"),
        ([("", "r1", "pass")], SAID, {}, "the column 'item_id' is empty"),
        (GOOD, SAID, {"scale": "no,yes"}, "say with --passes which of the categories no, yes do"),
        (GOOD, SAID, {"scale": "fail=1,pass=0"}, "must go from the lowest number to the highest"),
    ],
)
def test_what_cannot_be_read_is_said_in_a_sentence(
    tmp_path: Path,
    ratings: list[Sequence[object]],
    verdicts: list[Sequence[object]],
    options: dict[str, str],
    sentence: str,
) -> None:
    files = (
        write(tmp_path / "ratings.csv", HEADER, ratings),
        write(tmp_path / "verdicts.csv", JUDGED, verdicts),
    )
    with pytest.raises(ImportRefused) as refused:
        read_file_tables([files[0]], [files[1]], options=FileOptions(**options))  # type: ignore[arg-type]
    assert sentence in str(refused.value)


def test_a_missing_column_names_the_option_that_helps(tmp_path: Path) -> None:
    ratings = write(tmp_path / "ratings.csv", ["unit", "rater_id", "label"], GOOD)
    with pytest.raises(ImportRefused, match=r"no column 'item_id'.* name another with --item"):
        read_file_tables([ratings], [ratings], options=FileOptions())


def test_an_item_of_two_metrics_is_refused(tmp_path: Path) -> None:
    ratings = write(tmp_path / "r.csv", [*HEADER, "metric_id"], [(*GOOD[0], "m1"), (*GOOD[1], "m2")])
    verdicts = write(tmp_path / "v.csv", JUDGED, SAID)
    with pytest.raises(
        ImportRefused, match=r"item 'a' has the metric 'm2' here and 'm1' in .*r\.csv, line 2"
    ):
        read_file_tables([ratings], [verdicts], options=FileOptions())
