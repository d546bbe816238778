"""A table of labels is read whole, and whatever is wrong with it is named by its row."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from impactbench.adapters import ImportRefused
from impactbench.adapters.ratings_table_reading import (
    DRAFT,
    NO_LABEL,
    REASON_NOT_STATED,
    RatingsOptions,
    RatingsTable,
    read_ratings_table,
)
from impactbench.domain import LabelStatus, LabelVerdict, Panel

HEADER = "item_id,rater_id,label"


def _read(tmp_path: Path, *lines: str, **options: Any) -> RatingsTable:
    path = tmp_path / "labels.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return read_ratings_table(path, options=RatingsOptions(**options))


def test_every_column_of_the_convention_is_understood(tmp_path: Path) -> None:
    header = (
        "item_id,metric_id,metric_version,rater_id,rater_group,repeat_no,label,status,rationale,confidence,turns,"
        "created_utc,active_seconds,something_else"
    )
    row = _read(
        tmp_path,
        header,
        'c1,m01,2,anna,External,1,Borderline,submitted,"first line\nsecond, שלום",3,"5, 2",2026-03-01T09:30:00,12.5,x',
    ).rows[0]

    assert (row.row, row.item, row.metric, row.metric_version, row.rater) == (2, "c1", "m01", 2, "anna")
    assert (row.panel, row.repeat, row.verdict) == (Panel.EXTERNAL, 1, LabelVerdict.BORDERLINE)
    assert (row.rationale, row.confidence, row.turns) == ("first line\nsecond, שלום", 3, (2, 5))
    assert (row.created_at, row.active_seconds) == (datetime(2026, 3, 1, 9, 30, tzinfo=UTC), 12.5)


def test_rows_without_a_label_keep_their_status_or_are_counted(tmp_path: Path) -> None:
    table = _read(
        tmp_path,
        HEADER + ",status,reason",
        "c1,a,,skip,",
        "c2,a,,cannot_judge,too little",
        "c3,a,,,",
        "c4,a,pass,draft,",
        ",,,,",
        "",
        "c5,a,PASS,,",
    )

    assert [(row.row, row.status, row.verdict, row.reason) for row in table.rows] == [
        (2, LabelStatus.SKIPPED, None, REASON_NOT_STATED),
        (3, LabelStatus.CANNOT_JUDGE, None, "too little"),
        (8, LabelStatus.SUBMITTED, LabelVerdict.PASS, ""),
    ]
    assert table.skipped == {NO_LABEL: 1, DRAFT: 1}
    assert table.n_read == 5


def test_other_words_and_columns_can_be_named(tmp_path: Path) -> None:
    table = _read(
        tmp_path,
        "input_id;who;rating;ai_model",
        "c1;a;HELL YES;gpt-4o",
        "c2;a;n/a;gpt-4o",
        columns={"item": "input_id", "rater": "who", "label": "rating", "model": "ai_model"},
        words={"hell yes": "pass", "N/A": "cannot_judge"},
    )

    assert [(row.verdict, row.status, row.model) for row in table.rows] == [
        (LabelVerdict.PASS, LabelStatus.SUBMITTED, "gpt-4o"),
        (None, LabelStatus.CANNOT_JUDGE, "gpt-4o"),
    ]


def test_times_with_a_zone_become_utc(tmp_path: Path) -> None:
    lines = ["2026-02-28T23:30:00-07:00", "2026-03-01T06:30:00Z", "2026-03-01 06:30:00"]
    table = _read(tmp_path, HEADER + ",created_utc", *(f"c{n},a,pass,{time}" for n, time in enumerate(lines)))

    assert {row.created_at for row in table.rows} == {datetime(2026, 3, 1, 6, 30, tzinfo=UTC)}


def test_parquet_says_the_same_as_csv(tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {
            "item_id": ["c1", "c2", "c3"],
            "rater_id": [1, 1, 2],
            "label": ["pass", None, "fail"],
            "status": [None, "skip", None],
            "confidence": [3, None, 1],
            "turns": [[1, 2], None, []],
            "created_utc": pd.to_datetime(["2026-03-01T06:30:00Z", None, None], utc=True),
        }
    )
    path = tmp_path / "labels.parquet"
    frame.to_parquet(path)

    rows = read_ratings_table(path).rows
    assert [(row.item, row.rater, row.status.value, row.confidence, row.turns) for row in rows] == [
        ("c1", "1", "submitted", 3, (1, 2)),
        ("c2", "1", "skip", None, ()),
        ("c3", "2", "submitted", 1, ()),
    ]
    assert rows[0].created_at == datetime(2026, 3, 1, 6, 30, tzinfo=UTC)


FAULTS: dict[str, tuple[list[str], str]] = {
    "unknown word": ([HEADER, "c1,a,pass", "c2,a,maybe"], "row 3: the label is 'maybe', it must be one of fail, "),
    "unknown status": ([HEADER + ",status", "c1,a,pass,done"], "row 2: the status is 'done'"),
    "submitted without label": ([HEADER + ",status", "c1,a,,submitted"], "row 2: the status is 'submitted' and there"),
    "skipped with label": ([HEADER + ",status", "c1,a,pass,skip"], "the status is 'skip' and the label is 'pass'"),
    "no rater column": (["item_id,label", "c1,pass"], "no column 'rater_id' for the rater; the table has 'item_id', "),
    "column twice": ([HEADER + ",label", "c1,a,pass,pass"], "two columns are called 'label'"),
    "empty item": ([HEADER, ",a,pass"], "row 2: the item is empty"),
    "empty rater": ([HEADER, "c1,,pass"], "row 2: the rater is empty"),
    "twice": ([HEADER, "c1,a,pass", "c2,a,pass", "c1,a,fail"], "rows 2 and 4 are both a label of item 'c1' by rater 'a'"),
    "unknown panel": ([HEADER + ",rater_group", "c1,a,pass,crowd"], "the panel is 'crowd'"),
    "two panels": (
        [HEADER + ",rater_group", "c1,a,pass,internal", "c2,a,pass,external"],
        "rater 'a' is internal in row 2 and external in row 3",
    ),
    "confidence": ([HEADER + ",confidence", "c1,a,pass,5"], "the confidence is '5', it must be a whole number from 1 to 4"),
    "turns": ([HEADER + ",turns", "c1,a,pass,last"], "the turns are 'last'"),
    "seconds": ([HEADER + ",active_seconds", "c1,a,pass,-1"], "the seconds are '-1'"),
    "repeat": ([HEADER + ",repeat_no", "c1,a,pass,first"], "the repeat is 'first'"),
    "time": ([HEADER + ",created_utc", "c1,a,pass,yesterday"], "the time is 'yesterday', it must be written like"),
    "ragged": ([HEADER, "c1,a,pass,because, well"], "row 2: there are 5 cells and the first row has 3"),
    "open quotation mark": ([HEADER, 'c1,a,"pass'], "this is not valid CSV"),
    "nothing": ([HEADER], "there is no label in the file"),
    "empty file": ([""], "there is no column 'item_id' for the item"),
    "a character no database keeps": ([HEADER + ",rationale", "c1,a,pass,a\x00b"], "the rationale holds the character"),
}  # fmt: skip


@pytest.mark.parametrize(("lines", "said"), FAULTS.values(), ids=FAULTS)
def test_a_fault_is_named_with_its_row(tmp_path: Path, lines: list[str], said: str) -> None:
    with pytest.raises(ImportRefused) as refused:
        _read(tmp_path, *lines)
    assert said in str(refused.value)
    assert "labels.csv" in str(refused.value)


def test_a_time_without_a_zone_in_a_column_that_names_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ImportRefused, match="the time '2026-03-01T09:30' has no zone"):
        _read(tmp_path, HEADER + ",at", "c1,a,pass,2026-03-01T09:30", columns={"created": "at"})


def test_files_that_are_no_tables_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(b"item_id,\xe9\n")
    (tmp_path / "a.parquet").write_bytes(b"no parquet")
    for name, said in [
        ("a.csv", "not UTF-8 text"),
        ("a.parquet", "not a Parquet file"),
        ("b.csv", "no such file"),
        ("b.parquet", "no such file"),
    ]:
        with pytest.raises(ImportRefused, match=said):
            read_ratings_table(tmp_path / name)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            {"words": {"yes": "good"}},
            "--map yes=good: 'good' must be one of fail, borderline, pass, skip, cannot_judge",
        ),
        ({"columns": {"verdict": "label"}}, "there is no kind of column 'verdict'"),
        ({"columns": {"rationale": "why"}}, "there is no column 'why' for the rationale"),
    ],
)
def test_options_that_mean_nothing_are_refused(tmp_path: Path, options: dict[str, Any], said: str) -> None:
    with pytest.raises(ImportRefused) as refused:
        _read(tmp_path, HEADER, "c1,a,pass", **options)
    assert said in str(refused.value)
