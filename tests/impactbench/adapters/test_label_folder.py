"""Labels leave a database as plain files and fill an empty one again: nothing is lost on the way."""

import csv
import dataclasses
import json
from pathlib import Path

import pandas as pd
import pytest
from sqlalchemy import Engine, inspect
from sqlmodel import col, select

from impactbench.adapters import ImportRefused
from impactbench.adapters.label_folder import read_label_folder, write_label_folder
from impactbench.adapters.label_tables import HISTORY_COLUMNS
from impactbench.adapters.ratings_table_reading import read_ratings_table
from impactbench.adapters.spreadsheet_cells import shielded, unshielded
from impactbench.adapters.study_labels import keep_study_labels, read_study_labels
from impactbench.store import tables as t
from impactbench.store.engine import reading, writing
from tests.impactbench.adapters.labelled_study import HOSTILE, label_everything


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_an_export_fills_an_empty_database_from_which_the_same_bytes_come(
    engine: Engine, empty: Engine, tmp_path: Path
) -> None:
    label_everything(engine)
    once, again = tmp_path / "once", tmp_path / "again"
    write_label_folder(read_study_labels(engine, "winter"), once)

    kept = keep_study_labels(empty, read_label_folder(once))
    write_label_folder(read_study_labels(empty, "winter"), again)

    assert contents(once) == contents(again)
    assert kept.added["label"] == kept.read["label"] > 20
    assert kept.added["adjudication"] == 1
    assert kept.added["judgment"] == 16
    assert keep_study_labels(empty, read_label_folder(again)).changed is False
    assert b"never to leave" not in b"".join(contents(once).values())


def test_an_export_of_one_kind_of_database_fills_the_other(
    engine: Engine, empty: Engine, tmp_path: Path
) -> None:
    """From SQLite to SQLite, and from SQLite to PostgreSQL."""
    label_everything(empty)
    write_label_folder(read_study_labels(empty, "winter"), tmp_path / "once")

    keep_study_labels(engine, read_label_folder(tmp_path / "once"))
    write_label_folder(read_study_labels(engine, "winter"), tmp_path / "again")
    assert contents(tmp_path / "once") == contents(tmp_path / "again")


def test_answers_about_a_scenario_follow_it_to_its_new_number(sqlite_engine: Engine, empty: Engine) -> None:
    with writing(empty) as session:
        session.add(t.Benchmark(slug="another", name="Another"))
        session.flush()
        session.add(t.Metric(benchmark_id=1, slug="first"))
        session.flush()
        session.add(
            t.MetricVersion(
                metric_id=1, version=1, name="x", polarity="positive", definition="x", content_hash="x"
            )
        )
    label_everything(sqlite_engine)
    keep_study_labels(empty, read_study_labels(sqlite_engine, "winter"))

    def about(engine: Engine) -> set[tuple[str, str]]:
        with reading(engine) as session:
            slugs = {f"metric/{each.id}": each.content_hash for each in session.exec(select(t.MetricVersion))}
            answers = session.exec(select(t.Response)).all()
            return {(slugs[each.subject], each.question) for each in answers if each.subject in slugs}

    assert about(empty) == about(sqlite_engine) != set()


def test_no_cell_can_begin_a_formula_and_every_text_comes_back(sqlite_engine: Engine, tmp_path: Path) -> None:
    label_everything(sqlite_engine)
    write_label_folder(read_study_labels(sqlite_engine, "winter"), tmp_path / "out")

    for name in ("labels.csv", "label-history.csv", "verdicts.csv"):
        with (tmp_path / "out" / name).open(encoding="utf-8", newline="") as file:
            cells = [cell for row in csv.reader(file) for cell in row]
        assert [cell for cell in cells if cell[:1] in tuple("=+-@\t\r\n")] == []
    for text in HOSTILE:
        assert unshielded(shielded(text)) == text
    table = read_ratings_table(tmp_path / "out" / "labels.csv")
    assert {row.rationale for row in table.rows} >= {HOSTILE[0], HOSTILE[1], HOSTILE[5], HOSTILE[6]}
    parquet = pd.read_parquet(tmp_path / "out" / "labels.parquet")
    assert set(parquet["rationale"]) <= set(HOSTILE)


def test_verdicts_stand_beside_the_labels_of_the_same_items_after_polarity(
    sqlite_engine: Engine, tmp_path: Path
) -> None:
    label_everything(sqlite_engine)
    write_label_folder(read_study_labels(sqlite_engine, "winter"), tmp_path / "out")

    item = ["run", "item_id", "metric_id", "metric_version"]
    verdicts = pd.read_parquet(tmp_path / "out" / "verdicts.parquet")
    labels = pd.read_parquet(tmp_path / "out" / "labels.parquet")
    assert set(map(tuple, labels[item].to_numpy())) <= set(map(tuple, verdicts[item].to_numpy()))
    assert verdicts.loc[verdicts["present"].isna(), ["label", "unscored_because"]].isna().any(axis=1).all()
    assert verdicts["present"].isna().sum() == 2
    found = verdicts.dropna(subset="present").groupby(["polarity", "present"])["label"].agg(set).to_dict()
    assert found == {
        ("negative", "true"): {"fail"},
        ("negative", "false"): {"pass"},
        ("positive", "true"): {"pass"},
        ("positive", "false"): {"fail"},
    }


@pytest.mark.parametrize(
    ("version", "without"), [(1, ("judge", "judgment", "registration")), (2, ("registration",))]
)
def test_a_folder_from_before_there_were_verdicts_or_plans_is_still_read(
    sqlite_engine: Engine, empty: Engine, tmp_path: Path, version: int, without: tuple[str, ...]
) -> None:
    label_everything(sqlite_engine)
    write_label_folder(read_study_labels(sqlite_engine, "winter"), tmp_path / "out")
    path = tmp_path / "out" / "study.json"
    document = json.loads(path.read_text(encoding="utf-8")) | {"version": version}
    for name in without:
        del document[name]
    path.write_text(json.dumps(document), encoding="utf-8")
    if "judgment" in without:
        (tmp_path / "out" / "verdicts.csv").unlink()

    kept = keep_study_labels(empty, read_label_folder(tmp_path / "out"))
    assert kept.added["label"] > 20
    assert not set(without) & set(kept.read)


def test_a_registered_plan_travels_with_the_labels(
    sqlite_engine: Engine, empty: Engine, tmp_path: Path
) -> None:
    label_everything(sqlite_engine)
    write_label_folder(read_study_labels(sqlite_engine, "winter"), tmp_path / "out")
    keep_study_labels(empty, read_label_folder(tmp_path / "out"))

    def plans(engine: Engine) -> list[tuple[object, ...]]:
        with reading(engine) as session:
            rows = session.exec(select(t.Registration).order_by(col(t.Registration.revision))).all()
            return [(r.revision, r.plan, r.plan_hash, r.labels_then, r.because, r.created_at) for r in rows]

    assert [plan[:2] for plan in plans(empty)] == [
        (1, {"hypotheses": "=1+1 חוה 😀", "margin": 0.05}),
        (2, {"hypotheses": "=1+1 חוה 😀", "margin": 0.1}),
    ]
    assert plans(empty) == plans(sqlite_engine)
    path = tmp_path / "out" / "study.json"
    path.write_text(path.read_text(encoding="utf-8").replace('"h1"', '"other"'), encoding="utf-8")
    with pytest.raises(ImportRefused, match="registration"):
        keep_study_labels(empty, read_label_folder(tmp_path / "out"))


def test_every_column_of_a_label_is_in_the_history() -> None:
    """A column that is added to the table must travel too."""
    renamed = {"verdict": "label", "no_verdict_because": "reason", "created_at": "created_utc"}
    columns = {column.name for column in inspect(t.Label).columns} - {"id", "assignment_id", "operation"}
    assert {renamed.get(name, name) for name in columns} <= set(HISTORY_COLUMNS)


@pytest.mark.parametrize(
    ("name", "before", "after", "sentence"),
    [
        ("labels.csv", ",borderline,", ",pass,", r"labels.csv, row \d+: label is 'pass' and by label-history.csv it is 'bord"),
        ("label-history.csv", "winter,run", "summer,run", "row 2: the study is 'summer', in study.json it is 'winter'"),
        ("verdicts.csv", ",true,", ",false,", r"verdicts.csv, row \d+: present is 'false' and by study.json it is 'true'"),
        ("study.json", '"version": 3', '"version": 9', "the version is 9, this program reads 3: update the program"),
        ("study.json", "impactbench labels", "other", "the format is not 'impactbench labels'"),
        ("study.json", '"code-0-1"', "code", "this is not valid JSON"),
    ],
)  # fmt: skip
def test_a_folder_that_was_changed_is_refused(
    sqlite_engine: Engine, tmp_path: Path, name: str, before: str, after: str, sentence: str
) -> None:
    label_everything(sqlite_engine)
    write_label_folder(read_study_labels(sqlite_engine, "winter"), tmp_path / "out")
    path = tmp_path / "out" / name
    text = path.read_bytes().decode()
    assert before in text
    path.write_bytes(text.replace(before, after, 1).encode())

    with pytest.raises(ImportRefused, match=sentence):
        read_label_folder(tmp_path / "out")


def test_another_word_on_the_same_revision_is_refused_and_nothing_is_kept(
    sqlite_engine: Engine, tmp_path: Path
) -> None:
    label_everything(sqlite_engine)
    labels = read_study_labels(sqlite_engine, "winter")
    changed = json.loads(json.dumps(labels.history))
    changed[-1]["rationale"] = "Other words."
    labels = dataclasses.replace(labels, history=changed)

    with pytest.raises(
        ImportRefused, match=r"label winter/winter/.* is in the database with another rationale"
    ):
        keep_study_labels(sqlite_engine, labels)
