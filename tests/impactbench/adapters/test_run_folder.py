"""A run folder is kept once, whole, and nothing of it is overwritten."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy import Engine

from impactbench.adapters import ImportRefused
from impactbench.adapters.run_folder import RunFolderImported, import_run_folder
from impactbench.adapters.run_folder_reading import ReadingOptions, read_run_folder
from impactbench.adapters.run_folder_results import NO_SCORE
from impactbench.store import frames
from impactbench.store.tables import Table
from tests.impactbench.adapters.folders import FIRST, MODEL, Folder


def _import(
    engine: Engine, folder: Folder, *, run: str = "", study: str = "", **options: Any
) -> RunFolderImported:
    read = read_run_folder(folder.path, options=ReadingOptions(**options))
    return import_run_folder(engine, read, run=run, study=study)


def _rows(engine: Engine) -> dict[str, int]:
    with engine.connect() as connection:
        return {
            name: connection.execute(sa.select(sa.func.count()).select_from(table)).scalar_one()
            for name, table in Table.metadata.tables.items()
        }


def test_a_folder_comes_out_as_it_went_in(engine: Engine, folder: Folder) -> None:
    imported = _import(engine, folder)

    conversations = frames.conversations(engine, "kindness")
    judgments = frames.judgments(engine, "kindness")
    assert list(conversations["run"].unique()) == [f"kindness/{MODEL}"]
    assert list(conversations["n_turns"].unique()) == [2]
    assert set(zip(conversations["metric"], conversations["age"], strict=True)) == {
        ("m01", "teen"), ("m01", "adult"), ("m02", "teen"), ("m02", "adult"),
    }  # fmt: skip
    assert judgments["passed"].sum() == imported.verdicts["passed"] == 2
    assert list(frames.studies(engine)["title"]) == ["Kindness"]


def test_the_same_folder_again_changes_nothing_and_says_so(engine: Engine, folder: Folder) -> None:
    first = _import(engine, folder)
    before = _rows(engine)
    second = _import(engine, folder)

    assert (first.changed, second.changed) == (True, False)
    assert _rows(engine) == before
    assert {kind: (tally.read, tally.added) for kind, tally in second.tallies.items()} == {
        "metrics": (2, 0), "scenarios": (4, 0), "conversations": (4, 0), "judgments": (4, 0),
    }  # fmt: skip


def test_a_run_that_has_grown_adds_what_is_new(engine: Engine, folder: Folder) -> None:
    new = {"conv_id": "later", "target": MODEL}
    _import(engine, folder)
    folder.edit("conversations.json", lambda conversations: conversations.append({**conversations[0], **new}))
    folder.edit("scores.json", lambda scores: scores.append({**scores[0], "conv_id": "later"}))

    imported = _import(engine, folder)
    assert imported.tallies["conversations"].added == imported.tallies["judgments"].added == 1


def test_a_changed_metric_becomes_a_further_version(engine: Engine, folder: Folder) -> None:
    _import(engine, folder)
    folder.edit("benchmark.yaml", lambda content: content["metrics"][0].update(definition="Something else."))

    imported = _import(engine, folder)
    versions = frames.metrics(engine).query("metric == 'm01'")
    assert list(versions["version"]) == [1, 2]
    assert list(versions["definition"]) == ["The chatbot does m01.", "Something else."]
    assert "metric m01 has changed (definition): version 2 is added, version 1 stays" in imported.notes
    assert imported.tallies["conversations"].added == imported.tallies["judgments"].added == 0
    assert _import(engine, folder).changed is False


def test_another_text_of_a_conversation_is_refused_and_nothing_of_it_is_kept(
    engine: Engine, folder: Folder
) -> None:
    _import(engine, folder)
    before = _rows(engine)
    folder.edit("benchmark.yaml", lambda content: content["metrics"][1].update(name="Renamed"))
    folder.edit(
        "conversations.json",
        lambda conversations: conversations[3]["transcript"][1].update(content="Other words"),
    )

    with pytest.raises(ImportRefused, match=r"imported before with another text .* new run with --run NAME"):
        _import(engine, folder)
    assert _rows(engine) == before

    assert _import(engine, folder, run="second").runs == (f"second/{MODEL}",)
    assert len(frames.conversations(engine, "kindness")) == 8


def test_another_verdict_of_the_same_judge_is_refused(engine: Engine, folder: Folder) -> None:
    _import(engine, folder)
    folder.edit("scores.json", lambda scores: scores[0].update(present=False, passed=False))

    with pytest.raises(ImportRefused, match=f"'{FIRST}' .* was imported as present with sample 0"):
        _import(engine, folder)


def test_another_judge_is_kept_beside_the_first(engine: Engine, folder: Folder) -> None:
    _import(engine, folder, judge="gpt-5")
    folder.edit("scores.json", lambda scores: scores[0].update(present=False, passed=False))
    _import(engine, folder, judge="gemini-3")

    judgments = frames.judgments(engine, "kindness")
    assert judgments.groupby("judge")["present"].sum().to_dict() == {"gemini-3": 3, "gpt-5": 4}


def test_a_judge_can_be_named_afterwards(engine: Engine, folder: Folder) -> None:
    assert "the folder does not name its judge" in " ".join(_import(engine, folder).notes)

    named = _import(engine, folder, judge="gpt-5")
    assert (named.changed, named.tallies["judgments"].added) == (True, 0)
    assert list(frames.judgments(engine, "kindness")["judge"].unique()) == ["gpt-5"]
    assert len(frames.judgments(engine, "kindness")) == 4
    assert _import(engine, folder, judge="gpt-5").changed is False
    assert _import(engine, folder).changed is False


def test_a_missing_score_is_unscored_until_there_is_one(engine: Engine, folder: Folder) -> None:
    folder.edit("scores.json", lambda scores: (scores.pop(0), scores)[1])
    imported = _import(engine, folder, allow_unscored=True)
    assert imported.unscored == {NO_SCORE: 1}
    assert frames.judgments(engine, "kindness")["present"].isna().sum() == 1
    assert _import(engine, folder, allow_unscored=True).changed is False

    folder.edit("scores.json", lambda scores: scores.append({**scores[0], "conv_id": FIRST}))
    assert _import(engine, folder).changed is True
    assert frames.judgments(engine, "kindness")["present"].isna().sum() == 0
    assert len(frames.judgments(engine, "kindness")) == 4


def test_a_changed_scenario_is_added_under_a_number(engine: Engine, folder: Folder) -> None:
    _import(engine, folder)
    folder.edit("scenarios.json", lambda scenarios: scenarios[0].update(persona="Somebody else."))

    assert "scenario m01_s001_v01 has changed: it is added as m01_s001_v01@2" in _import(engine, folder).notes
    assert _import(engine, folder).changed is False
    _import(engine, folder, run="second")
    second = frames.conversations(engine, "kindness").query("run.str.startswith('second')")
    assert set(second["scenario"]) == {"m01_s001_v01@2", "m01_s001_v02", "m02_s001_v01", "m02_s001_v02"}
    assert set(second["base_scenario"]) == {"m01_s001", "m02_s001"}


def test_a_family_is_filled_in_but_never_changed(engine: Engine, folder: Folder) -> None:
    assert "the family of model unnamed-judge is unknown" in " ".join(_import(engine, folder).notes)
    filled = _import(engine, folder, judge_family="openai")
    assert "the family of model unnamed-judge, unknown until now, is openai" in filled.notes

    with pytest.raises(
        ImportRefused, match="stated to be of the family 'google', but it was imported as of 'openai'"
    ):
        _import(engine, folder, judge_family="google")


def test_a_broken_off_conversation_is_incomplete(engine: Engine, folder: Folder) -> None:
    folder.edit("conversations.json", lambda conversations: conversations[0]["transcript"].pop() and None)

    assert "1 conversations end with the user and are kept as incomplete" in _import(engine, folder).notes
    assert list(frames.conversations(engine, "kindness")["status"]).count("incomplete") == 1


def test_subareas_and_notices_are_kept(engine: Engine, folder: Folder) -> None:
    folder.edit("benchmark.yaml", lambda content: content["metrics"][0].update(subareas=["law"]))
    folder.edit(
        "benchmark.yaml", lambda content: content.update(study={"title": "T", "notice": "Simulated."})
    )
    _import(engine, folder, study="demo")

    assert frames.metrics(engine).query("metric == 'm01'")["subareas"].item() == ["Law"]
    assert frames.studies(engine)[["study", "title", "notice"]].to_numpy().tolist() == [
        ["demo", "T", "Simulated."]
    ]


def test_two_studies_hold_the_same_run(engine: Engine, folder: Folder) -> None:
    _import(engine, folder, study="one")
    assert _import(engine, folder, study="two").tallies["conversations"].added == 4
    assert len(frames.conversations(engine, "one")) == len(frames.conversations(engine, "two")) == 4


def test_four_imports_at_once_are_the_same_as_one(engine: Engine, folder: Folder) -> None:
    with ThreadPoolExecutor(4) as pool:
        imports = list(pool.map(lambda _: _import(engine, folder), range(4)))

    assert sum(each.tallies["conversations"].added for each in imports) == 4
    assert sum(each.tallies["metrics"].added for each in imports) == 2
    assert len(frames.judgments(engine, "kindness")) == 4
