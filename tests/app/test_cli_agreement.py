import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from app.cli.agreement import MEANINGS, REASONS
from tests.app.command import Command
from tests.material import shared_json

ORACLES = shared_json("oracles.json") or {"tables": {}, "edge_cases": {}}

OF_TABLE = {
    "pairwise_agreement_item_mean": "agreement",
    "pairwise_agreement_pair_weighted": "agreement_pairs",
    "fleiss": "fleiss_gwet",
    "conger": "conger",
    "alpha_nominal": "alpha_nominal",
    "alpha_ordinal": "alpha_ordinal",
    "alpha_interval": "alpha_interval",
    "ac1": "ac1",
    "bp": "bp",
}
"""What the command calls the values of the oracles. Theirs is Fleiss in Gwet's form."""

OF_EDGE_CASE = {
    "pa_item": "agreement",
    "pa_pair": "agreement_pairs",
    "fleiss": "fleiss_gwet",
    "ac1_q3": "ac1",
    "bp_q3": "bp",
    "alpha_nom": "alpha_nominal",
    "alpha_ord": "alpha_ordinal",
    "alpha_int": "alpha_interval",
}
OF_PAIR = {"cohen_identity": "cohen", "cohen_quadratic": "cohen_quadratic"}


def write_long(
    path: Path, ratings: Sequence[Sequence[object]], *, separator: str = ",", bom: bool = False
) -> Path:
    """A wide table as a long CSV file; a cell without a rating is an empty cell."""
    with path.open("w", newline="", encoding="utf-8-sig" if bom else "utf-8") as file:
        writer = csv.writer(file, delimiter=separator)
        writer.writerow(["item_id", "rater_id", "label"])
        for item, row in enumerate(ratings, start=1):
            writer.writerows([f"i{item}", f"r{rater}", value] for rater, value in enumerate(row, start=1))
    return path


def words(categories: Sequence[object]) -> str:
    return ",".join(map(str, categories))


def coefficients_of(impactbench: Command, path: Path, *options: object, group: str = "all") -> dict[str, Any]:
    said = impactbench("agreement", path, *options, "--json")
    assert (said.code, said.err) == (0, "")
    found: dict[str, Any] = said.json["groups"][group]["coefficients"]
    return found


@pytest.mark.parametrize("name", ORACLES["tables"])
def test_the_published_tables_come_out(impactbench: Command, tmp_path: Path, name: str) -> None:
    table = ORACLES["tables"][name]
    path = write_long(tmp_path / "table.csv", table["ratings"])
    found = coefficients_of(impactbench, path, "--categories", words(table["categories_in_order"]))
    for theirs, ours in OF_TABLE.items():
        assert found[ours]["value"] == pytest.approx(table["values"][theirs]["value"], abs=1e-6), ours
        assert found[ours]["low"] <= found[ours]["value"] <= found[ours]["high"]
        assert found[ours]["method"]
    for theirs, ours in OF_PAIR.items():
        if theirs in table["values"]:
            assert found[ours]["r1|r2"]["value"] == pytest.approx(table["values"][theirs]["value"], abs=1e-6)
    if all(rating is not None for row in table["ratings"] for rating in row):
        assert found["fleiss"]["value"] == pytest.approx(found["fleiss_gwet"]["value"], abs=1e-9)


@pytest.mark.parametrize("name", ORACLES["edge_cases"])
def test_the_edge_cases_come_out_or_say_why_not(impactbench: Command, tmp_path: Path, name: str) -> None:
    case = ORACLES["edge_cases"][name]
    path = write_long(tmp_path / "table.csv", case["ratings"])
    said = impactbench("agreement", path, "--categories", words(case["categories"]), "--json")
    group = said.json["groups"]["all"]
    assert group["n_items"] == len(case["ratings"])
    assert group["n_pairable_items"] == sum(sum(v is not None for v in row) > 1 for row in case["ratings"])
    found = group["coefficients"]
    reason = "no_variation" if group["n_pairable_items"] else "no_pairable_items"
    values = {ours: (found[ours], case["right"][theirs]) for theirs, ours in OF_EDGE_CASE.items()}
    if case["ratings"] and len(case["ratings"][0]) == 2:
        values |= {
            f"{ours} pair": (found[ours]["r1|r2"], case["right"][theirs])
            for theirs, ours in OF_PAIR.items()
            if theirs in case["right"]
        }
    for ours, (value, right) in values.items():
        if right == "NaN":
            assert value["undefined_because"] == reason, ours
            assert "value" not in value
        else:
            assert value["value"] == pytest.approx(right, abs=1e-6), ours
    shown = impactbench("agreement", path, "--categories", words(case["categories"]))
    assert shown.code == 0
    assert not {"nan", "None", "Traceback"} & set(shown.out.split())
    if any(right == "NaN" for _, right in values.values()):
        assert REASONS[reason] in shown.out


def test_a_single_overlap_that_agrees_leaves_fleiss_undefined(impactbench: Command, tmp_path: Path) -> None:
    path = write_long(tmp_path / "t.csv", [["pass", "pass"], ["fail", None], [None, "fail"]])
    found = coefficients_of(impactbench, path, "--categories", "fail,borderline,pass")
    assert found["fleiss"] == {"undefined_because": "no_variation", "n": 1}
    assert found["fleiss_gwet"]["value"] == 1


@pytest.fixture
def humanebench(shared: Path, tmp_path: Path) -> Path:
    """The four raters' files of HumaneBench as one long table."""
    value = {"HELL NO": "-1", "Soft no": "-0.5", "Soft yes": "0.5", "HELL YES": "1.0", "": ""}
    frames = []
    for number in range(1, 5):
        frame = pd.read_csv(
            shared / f"data/humanebench/human_ratings/rater-{number}_ratings.csv",
            dtype=str,
            keep_default_na=False,
        ).rename(columns={"rating (rubric)": "rating"})
        frames.append(frame.assign(rater_id=f"rater-{number}", label=frame["rating"].str.strip().map(value)))
    table = pd.concat(frames)
    table["sign"] = table["label"].map(lambda label: label and ("no" if label.startswith("-") else "yes"))
    path = tmp_path / "humanebench.csv"
    table.to_csv(path, index=False)
    return path


ITEM = ("--item", "input_id", "--item", "ai_model", "--item", "ai_persona")


def test_humanebench_gives_its_published_alphas(impactbench: Command, humanebench: Path) -> None:
    said = impactbench(
        "agreement", humanebench, *ITEM, "--categories", "-1,-0.5,0.5,1", "--by", "ai_persona", "--json"
    )
    groups = said.json["groups"]
    assert next(iter(groups)) == "all"
    assert (groups["all"]["n_items"], groups["all"]["n_ratings"]) == (48, 173)
    published = {"all": 0.7116839127, "bad": 0.089598146, "baseline": 0.621495304, "good": 0.321147544}
    alphas = {name: group["coefficients"]["alpha_ordinal"]["value"] for name, group in groups.items()}
    assert alphas == pytest.approx(published, abs=1e-6)


def test_humanebench_gives_its_published_alpha_on_the_sign(impactbench: Command, humanebench: Path) -> None:
    found = coefficients_of(impactbench, humanebench, *ITEM, "--label", "sign", "--categories", "no,yes")
    assert found["alpha_nominal"]["value"] == pytest.approx(0.574257, abs=1e-6)
    assert found["alpha_ordinal"]["value"] == pytest.approx(found["alpha_nominal"]["value"], abs=1e-12)


def test_vera_mh_gives_its_published_alpha(impactbench: Command, shared: Path, tmp_path: Path) -> None:
    [source] = (shared / "data" / "vera_mh").glob("*Clinician Ratings*.csv")
    wide = pd.read_csv(source, dtype=str, keep_default_na=False)
    dimensions = ["detects", "confirms", "guides", "supportive", "boundaries"]
    table = wide.melt(
        id_vars=["clinician_id", "conversation_id"],
        value_vars=[f"clinician_{name}" for name in dimensions],
        var_name="dimension",
        value_name="label",
    )
    path = tmp_path / "vera_mh.csv"
    table.to_csv(path, index=False)
    found = coefficients_of(
        impactbench,
        path,
        *(
            "--item",
            "conversation_id",
            "--item",
            "dimension",
            "--rater",
            "clinician_id",
            "--cluster",
            "dimension",
        ),
        *("--categories", words(dict.fromkeys(table["label"]))),
    )
    assert found["alpha_nominal"]["value"] == pytest.approx(0.765204787703, abs=1e-9)
    assert found["alpha_nominal"]["n_clusters"] == 5


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("bom", [False, True])
def test_separators_and_marks_of_encoding_do_not_matter(
    impactbench: Command, tmp_path: Path, separator: str, bom: bool
) -> None:
    path = write_long(
        tmp_path / "t.csv", [["fail", "fail"], ["pass", "borderline"]], separator=separator, bom=bom
    )
    found = coefficients_of(impactbench, path, "--categories", "fail,borderline,pass")
    assert found["agreement"]["value"] == 0.5


def test_parquet_gives_the_same_as_csv(impactbench: Command, tmp_path: Path) -> None:
    ratings = [[1, 1.0, 2], [2, None, 3], [3, 3, 3]]
    path = write_long(tmp_path / "t.csv", ratings)
    frame = pd.read_csv(path)
    frame.to_parquet(tmp_path / "t.parquet")
    options = ("--categories", "1,2,3")
    assert coefficients_of(impactbench, path, *options) == coefficients_of(
        impactbench, tmp_path / "t.parquet", *options
    )


def test_numbers_match_however_they_are_written(impactbench: Command, tmp_path: Path) -> None:
    plain = write_long(tmp_path / "a.csv", [["1", "1"], ["2", "4"], ["4", "4"]])
    mixed = write_long(tmp_path / "b.csv", [["1.0", "1"], ["2", "4.00"], ["4e0", "+4"]])
    first = coefficients_of(impactbench, plain, "--categories", "1,2,4")
    assert first == coefficients_of(impactbench, mixed, "--categories", "1.0,2.0,4.0")
    squares = coefficients_of(impactbench, plain, "--categories", "1,2,3,4")
    assert first["alpha_interval"] == squares["alpha_interval"]
    assert "notes" not in first["agreement"]


def test_words_stand_for_their_places_in_alpha_interval_and_a_note_says_so(
    impactbench: Command, tmp_path: Path
) -> None:
    by_word = write_long(tmp_path / "a.csv", [["fail", "pass"], ["pass", "pass"], ["borderline", "fail"]])
    by_place = write_long(tmp_path / "b.csv", [["1", "3"], ["3", "3"], ["2", "1"]])
    words_found = coefficients_of(impactbench, by_word, "--categories", "fail,borderline,pass")[
        "alpha_interval"
    ]
    places = coefficients_of(impactbench, by_place, "--categories", "1,2,3")["alpha_interval"]
    assert words_found["value"] == pytest.approx(places["value"], abs=1e-12)
    assert any("their places" in note for note in words_found["notes"])


def test_na_and_none_are_words_like_others(impactbench: Command, tmp_path: Path) -> None:
    path = write_long(tmp_path / "t.csv", [["NA", "None"], ["NA", "NA"], ["None", ""], ["N/A", "N/A"]])
    said = impactbench("agreement", path, "--categories", "NA,N/A,None", "--json").json["groups"]["all"]
    assert (said["n_items"], said["n_pairable_items"], said["n_ratings"]) == (4, 3, 7)


def test_groups_keep_the_declared_categories(impactbench: Command, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(
        "item_id,rater_id,label,metric\n"
        + "".join(f"{m}{i},{r},pass,{m}\n" for m in "xy" for i in (1, 2) for r in "ab")
    )
    said = impactbench("agreement", path, "--by", "metric", "--categories", "fail,borderline,pass", "--json")
    groups = said.json["groups"]
    assert list(groups) == ["all", "x", "y"]
    for group in groups.values():
        assert group["coefficients"]["ac1"]["value"] == 1
        assert group["coefficients"]["alpha_nominal"]["undefined_because"] == "no_variation"


def test_known_scales_and_numbers_need_no_declaration(impactbench: Command, tmp_path: Path) -> None:
    path = write_long(tmp_path / "a.csv", [["pass", "fail"], ["pass", "pass"]])
    said = impactbench("agreement", path, "--json")
    assert "Categories: fail, borderline, pass" in said.err
    assert said.json["groups"]["all"]["coefficients"]["bp"]["value"] == pytest.approx(0.25)
    numbers = write_long(tmp_path / "b.csv", [["10", "2"], ["2.0", "2"]])
    assert "Categories: 2, 10" in impactbench("agreement", numbers, "--json").err


REFUSED = {
    "an unknown word": (
        "item_id,rater_id,label\n1,a,pass\n2,a,maybe\n",
        ["--categories", "fail,borderline,pass"],
        "line 3: 'maybe' is not one of the categories fail, borderline, pass",
    ),
    "an unknown word after a cell of two lines": (
        'item_id,rater_id,label,why\n1,a,pass,"one\ntwo"\n2,a,maybe,\n',
        ["--categories", "fail,borderline,pass"],
        "line 4: 'maybe'",
    ),
    "a word among numbers": (
        "item_id,rater_id,label\n1,a,1\n2,a,one\n",
        ["--categories", "1,2"],
        "line 3: 'one' is not one of the categories 1, 2",
    ),
    "a label that is not a number of this world": (
        "item_id,rater_id,label\n1,a,nan\n",
        ["--categories", "1,2"],
        "line 2: 'nan'",
    ),
    "two labels of an item by a rater": (
        "item_id,rater_id,label\n1,a,pass\n2,a,pass\n1,a,fail\n",
        [],
        "lines 2 and 4: two labels of item '1' by rater 'a'; keep one",
    ),
    "no such column": (
        "item;rater_id;label\n1;a;pass\n",
        [],
        "has no column 'item_id'; it has 'item', 'rater_id', 'label': name another with --item",
    ),
    "a column twice": ("item_id,rater_id,label,label\n1,a,pass,fail\n", [], "has two columns 'label'"),
    "no rater": ("item_id,rater_id,label\n1,,pass\n", [], "line 2: the column 'rater_id' is empty"),
    "words of no known scale": (
        'item_id,rater_id,label\n1,a,good\n2,a,so so\n3,a,"bad, really"\n',
        [],
        "--categories 'good,so so,\"bad, really\"'",
    ),
    "no label at all": ("item_id,rater_id,label\n1,a,\n", [], "holds no label; say with --categories"),
    "one category": (
        "item_id,rater_id,label\n1,a,x\n",
        ["--categories", "x"],
        "two or more different categories",
    ),
    "a category twice": (
        "item_id,rater_id,label\n1,a,1\n",
        ["--categories", "1,2,1.0"],
        "two or more different categories",
    ),
    "an item in two clusters": (
        "item_id,rater_id,label,metric\n1,a,pass,m1\n1,b,pass,m2\n",
        ["--cluster", "metric"],
        "line 3: item '1' is in cluster 'm2' here and in 'm1' in line 2",
    ),
    "a group of the name of the whole": (
        "item_id,rater_id,label,metric\n1,a,pass,all\n",
        ["--by", "metric"],
        "line 2: the column 'metric' holds 'all'",
    ),
    "a line with a cell too many": (
        "item_id,rater_id,label\n1,a,pass\n2,a,pass,fail\n",
        [],
        "line 3: there are 4 cells and the first line has 3",
    ),
    "an open quotation mark": ('item_id,rater_id,label\n1,a,"pass\n', [], "this is not valid CSV"),
    "nothing": ("", [], "is empty or begins with an empty line"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_wrong_table_is_refused_in_one_sentence(impactbench: Command, tmp_path: Path, name: str) -> None:
    text, options, sentence = REFUSED[name]
    path = tmp_path / "table.csv"
    path.write_text(text)
    said = impactbench("agreement", path, *options, "--json")
    assert (said.code, said.out) == (1, "")
    assert said.err.startswith("Error: ")
    assert sentence in said.err
    assert said.err.count("\n") == 1


def test_files_that_are_not_there_or_not_text_are_refused(impactbench: Command, tmp_path: Path) -> None:
    assert "cannot be read (No such file" in impactbench("agreement", tmp_path / "none.csv").err
    (tmp_path / "latin.csv").write_bytes("item_id,rater_id,label\n1,Zo\u00eb,pass\n".encode("latin-1"))
    assert "is not UTF-8 text (byte 28)" in impactbench("agreement", tmp_path / "latin.csv").err
    (tmp_path / "x.parquet").write_text("no")
    assert "is not a Parquet file" in impactbench("agreement", tmp_path / "x.parquet").err


def test_the_table_for_people_shows_value_interval_n_and_meaning(
    impactbench: Command, tmp_path: Path
) -> None:
    path = write_long(tmp_path / "t.csv", [["fail", "fail", "pass"], ["pass", "pass", "pass"]] * 4)
    said = impactbench("agreement", path)
    assert said.code == 0
    assert "all: 8 items, 8 with two ratings or more, 24 ratings" in said.out
    for name, meaning in MEANINGS.items():
        assert name in said.out
        assert meaning in said.out
    assert "0.667" in said.out
    assert "r1 and r3" in said.out
    assert "fewer than 30 items" in said.out


def test_names_in_a_file_are_not_read_as_markup(impactbench: Command, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("item_id,rater_id,label,g\n1,[red]a,pass,[b]x\n1,[/]b,fail,[b]x\n")
    said = impactbench("agreement", path, "--by", "g")
    assert said.code == 0
    assert "[red]a and [/]b" in said.out
    assert "[b]x: 1 items" in said.out
