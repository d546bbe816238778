"""`impactbench audit`, `report` and `verify` as they are typed."""

import csv
import re
from pathlib import Path

import pytest

from tests.app.command import Command

LABELS = {"a": "PPP", "b": "FFF", "c": "PBF", "d": "FFP", "e": "PPB", "f": "FFF"}
WORDS = {"P": "pass", "B": "borderline", "F": "fail"}


def write(path: Path, rows: list[list[str]]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)
    return path


@pytest.fixture
def files(tmp_path: Path) -> list[object]:
    ratings = [
        [item, f"r{place}", WORDS[said]]
        for item, labels in LABELS.items()
        for place, said in enumerate(labels, start=1)
    ]
    verdicts = [
        [item, "quokka-3", "pass" if place % 2 else "fail", "zebra-9"] for place, item in enumerate(LABELS)
    ]
    return [
        "--ratings",
        write(tmp_path / "r.csv", [["item_id", "rater_id", "label"], *ratings]),
        "--verdicts",
        write(tmp_path / "v.csv", [["item_id", "judge_id", "verdict", "model"], *verdicts]),
    ]


def test_an_audit_of_files_gives_a_page_and_a_card(
    impactbench: Command, files: list[object], tmp_path: Path
) -> None:
    page = tmp_path / "audit.html"
    said = impactbench("audit", *files, "--json", "--html", page)
    assert said.code == 0, said.err
    card = said.json["card"]
    accuracy = card["judges"][0]["judge_human"]["accuracy"]
    assert accuracy["n"] == 6
    assert accuracy["value"] == pytest.approx(0.5 / 6), "one tie, and wrong everywhere else"
    assert any("polarity or definition may be inverted" in limit for limit in card["limits"])
    assert said.json["groups"][0]["experts"]["agreement"]["n"] == 6
    assert "no file names the metric of an item" in said.err
    assert "the family of zebra-9, quokka-3 is not known" in said.err
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")


def test_where_nothing_can_be_audited_json_says_why(
    impactbench: Command, files: list[object], tmp_path: Path
) -> None:
    files[3] = write(tmp_path / "other.csv", [["item_id", "judge_id", "verdict"], ["z", "one", "pass"]])
    said = impactbench("audit", *files, "--json")
    assert said.code == 1
    assert said.json["groups"] == []
    assert said.json["card"] is None
    assert said.json["not_audited"].startswith("no item has both a rating and a verdict")
    assert said.json["not_audited"] in said.err


def test_agreement_among_judges_is_printed_beside_that_among_experts(
    impactbench: Command, files: list[object], tmp_path: Path
) -> None:
    rows = [[item, judge, word] for item in LABELS for judge, word in (("one", "pass"), ("two", "fail"))]
    files[3] = write(tmp_path / "two.csv", [["item_id", "judge_id", "verdict"], *rows])
    said = impactbench("audit", *files)
    assert said.code == 0, said.err
    table = said.out.partition("Judges among themselves, in the same categories")[2].partition("Judges, in")[
        0
    ]
    assert "Ordinal α" in table
    assert re.search(r"all\D+6\D+12\D+0%", table)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--verdicts-say", "maybe"], "--verdicts-say is 'maybe'; it must be verdict or presence"),
        (["--rename", "old"], "--rename 'old' must be OLD=NEW"),
        (["--negative", "type"], "--negative 'type' must be COLUMN=PATTERN"),
        (["--label", "said"], "has no column 'said'"),
    ],
)
def test_a_wrong_option_is_one_sentence(
    impactbench: Command, files: list[object], options: list[str], sentence: str
) -> None:
    said = impactbench("audit", *files, *options)
    assert said.code == 1
    assert sentence in said.err
    assert "Traceback" not in said.err


def test_a_folder_without_a_report_cannot_be_verified(impactbench: Command, tmp_path: Path) -> None:
    said = impactbench("verify", tmp_path)
    assert said.code == 1
    assert "holds no report: it needs judge-card.json and the folder data" in said.err
