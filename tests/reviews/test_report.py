"""A report that a stranger can recompute: the same bytes, texts word for word, a card that lacks nothing, and no silent change."""

import copy
import html
import json
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from sqlalchemy import Engine
from sqlmodel import select

from impactbench.domain import LabelVerdict
from impactbench.store import tables as t
from impactbench.store.engine import connect, reading
from reviews import desk
from reviews.evidence import read_tables
from reviews.labels import Answer
from reviews.rating import worklist
from reviews.report.gathering import ReportRefused, Sharing, cut, gather
from reviews.report.package import DATA, as_files, read_package
from reviews.report.releasing import write_release
from reviews.report.schema import CardRefused, require_valid
from reviews.report.statement import StatementRefused, parse_statement
from reviews.report.verifying import verify
from reviews.report.writing import CARD, PAGE, TEXT, write_report
from tests.browser.desks import set_desks

HOSTILE = "</script><script>alert(1)</script> =cmd|' /C calc'!A0 \"quoted\" {{ 7*7 }} | **bold** ![x](http://x/y.png) \u202eevil 😀"
P, B, F = LabelVerdict.PASS, LabelVerdict.BORDERLINE, LabelVerdict.FAIL
LABELS = [(P, P, P), (F, F, F), (P, B, F), (F, F, P), (P, P, B), (F, F, F)]
RATERS = ("kestrel", "wren", "heron")


def add_rated_study(engine: Engine) -> None:
    turns = [{"role": "user", "content": HOSTILE}, {"role": "assistant", "content": f"second {HOSTILE}"}]
    set_desks(engine, [turns] * len(LABELS), *RATERS, base_url="http://here")
    with reading(engine) as session:
        ids = {rater.pseudonym: rater.id or 0 for rater in session.exec(select(t.Rater)).all()}
    for column, name in enumerate(RATERS):
        for code, row in zip(worklist.codes(engine, ids[name]), LABELS, strict=True):
            answer = Answer(verdict=row[column], rationale=f"because {HOSTILE}")
            desk.save(engine, ids[name], code, answer, base_revision=0)


@pytest.fixture(scope="module")
def study(sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Engine:
    """A small rated study whose every text is hostile."""
    path = tmp_path_factory.mktemp("study") / "study.db"
    shutil.copy(sqlite_template, path)
    engine = connect(f"sqlite:///{path}")
    add_rated_study(engine)
    return engine


OPEN = Sharing(transcripts=True, rationales=True)


@pytest.fixture(scope="module")
def report(study: Engine, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report") / "winter"
    write_report(gather(study, "winter", sharing=OPEN), folder)
    return folder


@pytest.fixture
def copied(report: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(report, tmp_path / "copied"))


def card_of(folder: Path) -> Any:
    return json.loads((folder / CARD).read_text(encoding="utf-8"))


def test_the_same_data_give_the_same_bytes(study: Engine, report: Path, tmp_path: Path) -> None:
    again = tmp_path / "again"
    write_report(gather(study, "winter", sharing=OPEN), again)
    names = sorted(str(path.relative_to(report)) for path in report.rglob("*") if path.is_file())
    assert names == sorted(str(path.relative_to(again)) for path in again.rglob("*") if path.is_file())
    assert [name for name in names if (report / name).read_bytes() != (again / name).read_bytes()] == []


def test_data_come_back_from_their_files_as_they_left(study: Engine) -> None:
    package = gather(study, "winter", sharing=OPEN)
    files = as_files(package)
    assert b"'=cmd" not in files["ratings.csv"], "only a cell that begins like a formula is shielded"
    assert not re.search(r"(^|,)\"?[=+@-]", files["ratings.csv"].decode(), re.MULTILINE)


def test_texts_stand_in_the_page_word_for_word_and_nothing_runs(report: Path) -> None:
    page = (report / PAGE).read_text(encoding="utf-8")
    assert page.count("<script") == 1, "the card, which is data"
    assert "</script><script>" not in page
    shown = html.unescape(re.sub(r"<script.*?</script>|<[^>]*>", "", page, flags=re.DOTALL))
    assert f"second {HOSTILE}" in shown
    assert f"because {HOSTILE}" in shown
    embedded = re.search(r'id="judge-card">(.*?)</script>', page, re.DOTALL)
    assert embedded is not None
    assert json.loads(embedded[1]) == card_of(report)
    assert not re.search(r"(src|href)=\"(?!#)", page), "nothing is loaded"
    assert HOSTILE in (report / TEXT).read_text(encoding="utf-8"), "fenced, as it stands"


def change(path: Path, old: str, new: str) -> None:
    text = path.read_bytes().decode()
    changed = re.sub(old, new, text, count=1)
    assert changed != text, path.name
    path.write_bytes(changed.encode())


def test_changed_numbers_are_named_and_nothing_else_is(copied: Path) -> None:
    change(copied / CARD, r'("accuracy": \{\s+"value": )[\d.]+', r"\g<1>0.123")
    change(copied / PAGE, r"agrees with the experts on \d+%", "agrees with the experts on 99%")
    change(copied / "figures/agreement.svg", r"Ordinal α: [-\d.]+", "Ordinal α: 0.99")
    said = verify(copied).differences
    assert {one.partition(",")[0] for one in said} == {CARD, PAGE, "figures/agreement.svg"}
    assert "judges[0].judge_human.accuracy.value: says 0.123, the data give 0.0833" in said[0]
    assert any(one.startswith("report.html, line") and "99%" in one for one in said)


def test_a_changed_label_changes_the_numbers_that_rest_on_it(copied: Path) -> None:
    change(copied / DATA / "ratings.csv", ",submitted,pass,", ",submitted,fail,")
    said = verify(copied).differences
    assert any("human.all_coefficients[0].coefficients.agreement.value: says" in one for one in said)
    assert any("provenance.data_hash" in one for one in said)


def test_raters_get_new_names_and_what_is_not_shared_is_nowhere(study: Engine, tmp_path: Path) -> None:
    folder = tmp_path / "release"
    closed = Sharing(transcripts=False, rationales=False)
    write_release(gather(study, "winter", sharing=closed), folder, licence="CC-BY-4.0", creator="A lab")
    everything = b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file()).decode()
    assert [word for word in (*RATERS, "calc", "evil", "JUSTIFICATION") if word in everything] == []
    assert "R01" in everything
    assert not (folder / DATA / "transcripts.jsonl").exists()
    described = json.loads((folder / "croissant.json").read_text(encoding="utf-8"))
    assert described["license"] == "https://spdx.org/licenses/CC-BY-4.0.html"
    assert (
        described["rai:annotationsPerItem"]
        == "0 items with 0 raters; 0 items with 1 raters; 0 items with 2 raters; 6 items with 3+ raters"
    )
    check_croissant(described, folder)


def check_croissant(described: dict[str, Any], folder: Path) -> None:
    """Every file is there under its hash, and every field names a column of its file."""
    import csv
    import hashlib

    files = {entry["@id"]: folder / entry["contentUrl"] for entry in described["distribution"]}
    for entry in described["distribution"]:
        assert hashlib.sha256(files[entry["@id"]].read_bytes()).hexdigest() == entry["sha256"]
    for record_set in described["recordSet"]:
        for field in record_set["field"]:
            source = field["source"]
            with files[source["fileObject"]["@id"]].open(encoding="utf-8", newline="") as file:
                assert source["extract"]["column"] in next(csv.reader(file))


def without_own_family(card: Any) -> None:
    card["roles_overlap"]["family_in_pool"] = True
    del card["judges"][0]["self_preference"]


def without_n(card: Any) -> None:
    del card["judges"][0]["judge_human"]["accuracy"]["n"]


def without_n_deep_down(card: Any) -> None:
    card["judges"][0]["anything"] = [{"else": {"value": 0.5}}]


def with_sixteen_items(card: Any) -> None:
    card["checklists"]["grras"].append(card["checklists"]["grras"][0])


@pytest.mark.parametrize("spoil", [without_own_family, without_n, without_n_deep_down, with_sixteen_items])
def test_a_card_that_lacks_something_is_refused(report: Path, spoil: Callable[[Any], None]) -> None:
    card = card_of(report)
    require_valid(card)
    spoiled = copy.deepcopy(card)
    spoil(spoiled)
    with pytest.raises(CardRefused, match="the judge card is not valid"):
        require_valid(spoiled)


def test_a_judge_outside_the_pool_may_be_silent_about_its_family(report: Path) -> None:
    card = card_of(report)
    assert not card["roles_overlap"]["family_in_pool"]
    del card["judges"][0]["self_preference"]
    require_valid(card)


def test_checklists_state_what_nobody_stated(report: Path) -> None:
    lists = card_of(report)["checklists"]
    assert {name: len(items) for name, items in lists.items()} == {
        "grras": 15,
        "cosmin": 6,
        "records": 6,
        "bean": 8,
    }
    assert lists["bean"][0] == {
        "asked": "The phenomenon is defined",
        "verdict": "not stated",
        "evidence": "not stated by the study",
    }
    assert card_of(report)["plan"]["frozen"] is False


def test_a_folder_with_something_in_it_is_left_alone(study: Engine, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(ReportRefused, match="there already and not empty"):
        write_report(gather(study, "winter", sharing=OPEN), tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_an_unknown_study_and_one_without_labels_are_said(study: Engine, sqlite_engine: Engine) -> None:
    with pytest.raises(ReportRefused, match="there is no study 'summer'; there is winter"):
        gather(study, "summer", sharing=OPEN)
    set_desks(sqlite_engine, [[{"role": "user", "content": "hi"}]], "kestrel", base_url="http://here")
    with pytest.raises(ReportRefused, match="nobody has labelled anything of winter"):
        gather(sqlite_engine, "winter", sharing=OPEN)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("experts: {disciplines: [a]}", "experts, disciplines is \\['a'\\]; it must be text"),
        ("people: {}", "'people' is not a part"),
        ("process: {speed: fast}", "process has no entry 'speed'"),
        ("experts: [", "cannot be read as YAML"),
    ],
)
def test_a_statement_is_checked_entry_by_entry(text: str, said: str) -> None:
    with pytest.raises(StatementRefused, match=said):
        parse_statement(text, name="statement.yaml")


def test_a_package_reads_back_as_itself(report: Path) -> None:
    package = read_package(report / DATA)
    files = as_files(package)
    assert {
        name: held == (report / DATA / name).read_bytes() for name, held in files.items()
    } == dict.fromkeys(files, True)


def test_the_card_carries_the_order_under_other_choices_and_what_hiding_a_judge_survives(
    report: Path,
) -> None:
    card = card_of(report)
    (judge,) = card["judges"]
    decided = judge["indeterminacy"]
    assert len(decided["thresholds"]) == len(decided["consistency"]) == len(decided["bias"]) > 1
    sweep = card["judges_by_indeterminacy"]
    assert set(sweep["beta_star"]) == {"ranking", "claims"}
    assert [len(mse) for mse in sweep["mse"].values()] == [len(sweep["beta"])]
    assert all(one["evidence"] for one in card["contested"] if one["p_by_domain"])
    assert judge["judge_human"]["weighted"]["n"] == judge["judge_human"]["accuracy"]["n"]
    assert {one["transport_assumption"] for one in judge["corrected_rates"]}


@pytest.mark.parametrize(
    ("part", "key"),
    [
        ("contested", "evidence"),
        ("judges", "rank_stability"),
        ("judges", "indeterminacy"),
        ("judges", "alt_test"),
    ],
)
def test_a_card_without_a_part_that_every_audit_has_is_refused(report: Path, part: str, key: str) -> None:
    card = card_of(report)
    del card[part][0][key]
    with pytest.raises(CardRefused, match=key):
        require_valid(card)


def test_how_far_blinding_held_is_printed_and_recomputed_from_the_answers(
    study: Engine, report: Path, tmp_path: Path
) -> None:
    (asked,) = card_of(report)["design"]["recognition"]
    assert (asked["asked"], asked["recognised"]) == (3, {"not_estimable": "no_items", "n": 0})
    said = pd.DataFrame(
        [
            (asked["review_set"], "no", ""),
            (asked["review_set"], "in a few", HOSTILE),
            (asked["review_set"], "", ""),
        ],
        columns=["review_set", "answer", "remark"],
    )
    package = gather(study, "winter", sharing=OPEN)
    folder = tmp_path / "answered"
    write_report(replace(package, tables=replace(package.tables, recognised=said)), folder)
    (found,) = card_of(folder)["design"]["recognition"]
    assert (found["answered"], found["remarks"]) == ({"no": 1, "in a few": 1}, [HOSTILE])
    assert (found["recognised"]["value"], found["recognised"]["n"]) == (0.5, 2)
    page = html.unescape((folder / PAGE).read_text(encoding="utf-8"))
    assert "who answered, 50% [" in page
    assert "believe to have recognised a model." in page
    assert verify(folder).differences == ()
    change(folder / DATA / "recognition.csv", ",no,", ",in many,")
    assert any(
        "design.recognition[0].recognised.value: says 0.5" in one for one in verify(folder).differences
    )


def test_how_raters_recognised_a_model_leaves_only_with_their_reasons(study: Engine) -> None:
    said = pd.DataFrame([("core", "in many", HOSTILE)], columns=["review_set", "answer", "remark"])
    tables = replace(read_tables(study, "winter"), recognised=said)
    closed = cut(tables, "winter", Sharing(transcripts=True, rationales=False))
    assert closed.recognised.values.tolist() == [["core", "in many", ""]]
    assert cut(tables, "winter", OPEN).recognised.values.tolist() == said.values.tolist()


def test_what_reviewers_said_of_a_metric_comes_back_without_what_they_wrote(study: Engine) -> None:
    package = gather(study, "winter", sharing=OPEN)
    said = pd.DataFrame(
        [(1, "kestrel", "relabel", "yes"), (1, "kestrel", "comment", HOSTILE)],
        columns=["metric_version_id", "rater", "question", "value"],
    )
    reviewed = replace(package, tables=replace(package.tables, metric_reviews=said))
    assert as_files(reviewed)["metric-reviews.csv"].decode().splitlines()[1:] == [
        "kindness,m01,1,kestrel,relabel,yes"
    ]
