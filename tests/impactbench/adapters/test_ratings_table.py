"""Labels from a table are kept once, beside their conversations; a changed one is a further revision."""

from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine

from impactbench.adapters import ImportRefused
from impactbench.adapters.ratings_table import RatingsImported, import_ratings_table
from impactbench.adapters.ratings_table_reading import read_ratings_table
from impactbench.adapters.run_folder import import_run_folder
from impactbench.adapters.run_folder_reading import ReadingOptions, read_run_folder
from impactbench.domain import Polarity
from impactbench.store import frames
from impactbench.store.engine import insert_if_absent, writing
from impactbench.store.tables import Assignment, ReviewSet
from tests.impactbench.adapters.folders import FIRST, MODEL, Folder

OTHER = f"m02_s001_v02__{MODEL}"
HEADER = "item_id,metric_id,rater_id,rater_group,label,status,rationale,created_utc,turns,repeat_no"
LINES = [
    f"{FIRST},m01,anna,internal,Pass,,good,2026-03-01T10:00:00Z,1 2,",
    f"{FIRST},m01,ben,external,FAIL,,,2026-03-01T11:00:00Z,,",
    f"{OTHER},,anna,internal,,cannot_judge,,,,",
    f"{OTHER},m02,ben,external,borderline,submitted,,,,",
]


@pytest.fixture
def study(engine: Engine, folder: Folder) -> Engine:
    """A database that holds the small run folder as the study `kindness`."""
    import_run_folder(engine, read_run_folder(folder.path))
    return engine


def _import(
    engine: Engine, folder: Path, *lines: str, header: str = HEADER, **options: Any
) -> RatingsImported:
    path = folder / "labels.csv"
    path.write_text("\n".join([header, *lines]), encoding="utf-8")
    return import_ratings_table(engine, read_ratings_table(path), **{"study": "kindness"} | options)


def test_labels_become_an_imported_review_set(study: Engine, tmp_path: Path) -> None:
    imported = _import(study, tmp_path, *LINES)

    assert (imported.added, imported.revised, imported.already_there) == (4, 0, 0)
    assert (imported.n_items, imported.raters) == (2, {"internal": 1, "external": 1})
    labels = frames.assignments(study, "kindness").set_index(["rater", "position"])
    assert set(labels["origin"]) == {"import"}
    assert set(labels["review_set"]) == {"import-labels"}
    first = labels.loc[("anna", 1)]
    assert (first["label"], first["rationale"], first["turns"]) == ("pass", "good", [1, 2])
    assert (first["labelled_at"].isoformat(), first["panel"]) == ("2026-03-01T10:00:00+00:00", "internal")
    second = labels.loc[("anna", 2)]
    assert (second["status"], second["no_verdict_because"]) == (
        "cannot_judge",
        "not stated in the imported table",
    )
    assert len(frames.ratings(study, "kindness")) == 3


def test_the_same_table_again_changes_nothing_and_says_so(study: Engine, tmp_path: Path) -> None:
    _import(study, tmp_path, *LINES)
    before = frames.label_history(study, "kindness")

    again = _import(study, tmp_path, *LINES)
    assert (again.changed, again.already_there) == (False, 4)
    renamed = import_ratings_table(
        study,
        read_ratings_table((tmp_path / "labels.csv").rename(tmp_path / "renamed.csv")),
        study="kindness",
    )
    assert (renamed.changed, renamed.already_there) == (False, 4)
    assert frames.label_history(study, "kindness").equals(before)


def test_a_changed_label_is_a_further_revision(study: Engine, tmp_path: Path) -> None:
    _import(study, tmp_path, *LINES)
    changed = _import(study, tmp_path, LINES[0].replace("Pass", "fail").replace("T10", "T12"), *LINES[1:])

    assert (changed.added, changed.revised, changed.already_there) == (0, 1, 3)
    history = frames.label_history(study, "kindness").query("rater == 'anna'")
    assert list(zip(history["revision"], history["label"], strict=True))[:2] == [(1, "pass"), (2, "fail")]
    assert history["revised_because"].iloc[1] == "imported again from labels.csv"
    assert _import(study, tmp_path, *LINES).changed is False, "an older file says nothing new"


def test_a_later_table_adds_to_the_set(study: Engine, tmp_path: Path) -> None:
    _import(study, tmp_path, *LINES[:2])
    assert _import(study, tmp_path, *LINES).added == 2
    assert sorted(frames.assignments(study, "kindness")["position"]) == [1, 1, 2, 2]


def test_repeats_are_labels_of_their_own(study: Engine, tmp_path: Path) -> None:
    imported = _import(study, tmp_path, LINES[0], LINES[0] + "1")
    assert imported.added == 2
    assert sorted(frames.ratings(study, "kindness")["repeat"]) == [0, 1]


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (
            ["nowhere,,anna,,pass,,,,,"],
            "row 2: item 'nowhere' is in no run of study 'kindness': import the run first",
        ),
        (["x,,anna,,pass,,,,,", "y,,anna,,pass,,,,,"], "(nor are 1 others)"),
        ([f"{FIRST},m02,anna,,pass,,,,,"], f"row 2: the metric is 'm02', but item '{FIRST}' is about m01"),
        ([f"{FIRST},m01,anna,,pass,,,,7,"], f"row 2: turn 7 is pointed at, but item '{FIRST}' has 2 turns"),
        (
            [f"{FIRST},m01,anna,,pass,,,,,", f"{FIRST},,anna,,fail,,,,,"],
            f"rows 2 and 3 are both a label of item '{FIRST}' by rater 'anna'",
        ),
    ],
)
def test_a_table_that_does_not_fit_the_study_is_refused_whole(
    study: Engine, tmp_path: Path, lines: list[str], said: str
) -> None:
    with pytest.raises(ImportRefused) as refused:
        _import(study, tmp_path, *LINES[1:2], *lines) if said.startswith("(nor") else _import(
            study, tmp_path, *lines
        )
    assert said in str(refused.value)
    assert frames.assignments(study, "kindness").empty
    assert frames.raters(study).empty


def test_an_item_in_two_runs_must_be_told_apart(study: Engine, folder: Folder, tmp_path: Path) -> None:
    import_run_folder(study, read_run_folder(folder.path), run="second")

    with pytest.raises(ImportRefused, match=rf"is in several runs \(kindness/{MODEL}, second/{MODEL}\)"):
        _import(study, tmp_path, LINES[0])
    assert _import(study, tmp_path, LINES[0], run=f"second/{MODEL}").added == 1
    header = "item_id,rater_id,label,run"
    assert _import(study, tmp_path, f"{FIRST},carl,pass,kindness/{MODEL}", header=header).added == 1


def test_an_item_judged_on_two_versions_keeps_to_its_own(
    study: Engine, folder: Folder, tmp_path: Path
) -> None:
    folder.edit("benchmark.yaml", lambda content: content["metrics"][0].update(definition="Otherwise."))
    folder.edit("scores.json", lambda scores: [score | {"justification": "Judged anew."} for score in scores])
    import_run_folder(study, read_run_folder(folder.path, options=ReadingOptions(judge="gpt-5")))

    header = "item_id,metric_version,rater_id,label"
    _import(study, tmp_path, f"{FIRST},,anna,pass", header=header)
    with pytest.raises(ImportRefused, match=r"the metric version is 3, but item .* is about version 1"):
        _import(study, tmp_path, f"{FIRST},3,ben,pass", header=header)


def test_labels_are_not_written_over_an_assignment_of_the_workbench(study: Engine, tmp_path: Path) -> None:
    _import(study, tmp_path, LINES[0], name="first")
    item = frames.assignments(study, "kindness").iloc[0]
    with writing(study) as session:
        design = {"study_id": 1, "slug": "r1", "origin": "design", "design_hash": "x"}
        insert_if_absent(session, ReviewSet, [design])
        row = {name: int(item[name]) for name in ("conversation_id", "metric_version_id", "rater_id")}
        more = {"study_id": 1, "review_set_id": 2, "repeat": 1, "code": "c", "position": 1}
        assert insert_if_absent(session, Assignment, [row | more]) == 1

    with pytest.raises(ImportRefused, match=r"rater 'anna' was given item .* in review set 'r1'"):
        _import(study, tmp_path, LINES[0] + "1")
    with pytest.raises(ImportRefused, match="review set 'r1' was opened in the workbench"):
        _import(study, tmp_path, LINES[0], name="r1")


def test_a_rater_of_another_panel_is_refused(study: Engine, tmp_path: Path) -> None:
    _import(study, tmp_path, LINES[0])
    with pytest.raises(ImportRefused, match="rater 'anna' is external here, but is internal in the database"):
        _import(study, tmp_path, LINES[0].replace("internal", "external"))


def test_without_transcripts_a_place_is_made_for_the_items(engine: Engine, tmp_path: Path) -> None:
    header = "item_id,base_scenario_id,metric_id,model,rater_id,label"
    lines = [
        "c1,s1,m01,gpt-4o,anna,pass",
        "c1,s1,m01,gpt-4o,ben,fail",
        "c1,s1,m02,gpt-4o,ben,fail",
        "c2,s1,m01,odd-1,ben,fail",
    ]
    options: dict[str, Any] = {
        "study": "elsewhere",
        "without_transcripts": True,
        "polarity": Polarity.NEGATIVE,
    }
    imported = _import(engine, tmp_path, *lines, header=header, **options)

    assert (imported.added, imported.placeholders, imported.n_items) == (4, 2, 3)
    conversations = frames.conversations(engine, "elsewhere")
    assert list(conversations["status"]) == ["labels_only", "labels_only"]
    assert list(conversations["base_scenario"]) == ["s1", "s1"]
    assert list(conversations["family"]) == ["openai", "unknown"]
    assert set(frames.metrics(engine)["polarity"]) == {"negative"}
    assert frames.assignments(engine, "elsewhere")["metric_version_id"].nunique() == 2

    again = _import(engine, tmp_path, *lines, header=header, **options)
    assert (again.changed, again.placeholders) == (False, 0)
    more = _import(engine, tmp_path, "c1,s1,m03,gpt-4o,ben,fail", header=header, **options)
    assert (more.added, more.placeholders) == (1, 0)
    assert _import(engine, tmp_path, *lines, header=header, study="elsewhere").changed is False


def test_without_transcripts_a_polarity_is_needed_and_a_study_otherwise(
    engine: Engine, tmp_path: Path
) -> None:
    with pytest.raises(ImportRefused, match="say --polarity positive or negative"):
        _import(engine, tmp_path, *LINES, without_transcripts=True)
    with pytest.raises(ImportRefused, match="there is no study 'kindness': import its run first"):
        _import(engine, tmp_path, *LINES)


def test_a_name_known_from_another_study_is_pointed_out(study: Engine, tmp_path: Path) -> None:
    _import(study, tmp_path, *LINES)
    options: dict[str, Any] = {"study": "other", "without_transcripts": True, "polarity": Polarity.POSITIVE}
    header = "item_id,rater_id,label"
    notes = _import(study, tmp_path, "c1,anna,pass", "c1,zoe,pass", header=header, **options).notes

    assert notes == ("1 of the raters are known from elsewhere (anna): the same name is the same person",)
