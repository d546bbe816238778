"""What comes in as a run folder goes out as the same run folder."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from sqlalchemy import Engine

from impactbench.adapters import ImportRefused
from impactbench.adapters.run_folder import import_run_folder
from impactbench.adapters.run_folder_reading import ReadingOptions, read_run_folder
from impactbench.adapters.run_folder_writing import Choice, write_run_folders
from impactbench.providers.scripted import Scripted
from impactbench.store import frames
from tests.impactbench.adapters.folders import MODEL, Folder
from tests.impactbench.runs.invented_run import answer, plan, play


def content(folder: Path) -> dict[str, Any]:
    """Every file of a folder, parsed; entries of a list by what they are called, for their order says nothing."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.suffix == ".json":
            entries = json.loads(path.read_text(encoding="utf-8"))
            value: Any = {(each.get("conv_id", each.get("id")), each.get("sample")): each for each in entries}
        elif path.suffix == ".yaml":
            value = yaml.safe_load(path.read_text(encoding="utf-8"))
        else:
            continue
        found[str(path.relative_to(folder))] = value
    return found


def import_(engine: Engine, folder: Path, **more: str) -> None:
    import_run_folder(engine, read_run_folder(folder), **more)


def test_the_published_run_goes_out_as_it_came_in(engine: Engine, shared: Path, tmp_path: Path) -> None:
    source = shared / "data/impactbench/benchmarks/humanebench"
    import_(engine, source)
    written = write_run_folders(engine, "humanebench", tmp_path / "out")

    out, came = content(tmp_path / "out/humanebench"), content(source)
    assert out.pop("runs/claude-haiku-4-5/model.yaml")["family"] == "anthropic"
    assert out == came
    assert written.counts == {"metrics": 3, "scenarios": 18, "runs": 1, "conversations": 18, "judgments": 18}


def test_the_demo_goes_out_as_it_came_in_and_in_again(sqlite_engine: Engine, tmp_path: Path) -> None:
    source = Path(__file__).resolve().parents[3] / "data/demo/everyday-choices"
    import_(sqlite_engine, source)
    write_run_folders(sqlite_engine, "everyday-choices", tmp_path / "out")

    out, came = content(tmp_path / "out/everyday-choices"), content(source)
    assert out.keys() == came.keys()
    for name in out:
        assert out[name] == came[name] or name.endswith(("model.yaml", "judge.yaml")), name
    again = import_run_folder(sqlite_engine, read_run_folder(tmp_path / "out/everyday-choices"))
    assert again.changed is False


def test_a_run_of_our_own_pipeline_goes_out_and_in(
    sqlite_engine: Engine, empty: Engine, tmp_path: Path
) -> None:
    _, because = play(sqlite_engine, plan(repeats=2), Scripted(answer))
    assert because == "finished"
    written = write_run_folders(sqlite_engine, "made", tmp_path / "out")
    assert (written.counts["conversations"], written.counts["judgments"]) == (8, 16)

    import_(empty, tmp_path / "out/care", study="made")
    write_run_folders(empty, "made", tmp_path / "again")
    assert content(tmp_path / "again") == content(tmp_path / "out")
    first, second = (frames.judgments(each, "made") for each in (sqlite_engine, empty))
    assert first["present"].sum() == second["present"].sum()
    assert set(first["judge"]) == set(second["judge"])


def test_fields_of_other_programs_and_missing_ones_come_back(
    sqlite_engine: Engine, folder: Folder, tmp_path: Path
) -> None:
    folder.edit("benchmark.yaml", lambda content: content.update(licence="CC0"))
    folder.edit("scenarios.json", lambda scenarios: scenarios[0].update(mood={"before": [1, None]}))
    folder.edit("conversations.json", lambda entries: entries[1].pop("persona") and None)
    folder.edit("conversations.json", lambda entries: entries[2].update(seconds=1.5))
    folder.edit("scores.json", lambda entries: entries[3].update(tokens=7, present=None, passed=None))
    before = content(folder.path)
    import_(sqlite_engine, folder.path)

    write_run_folders(sqlite_engine, "kindness", tmp_path / "out")
    after = content(tmp_path / "out/kindness")
    after.pop(f"runs/{MODEL}/model.yaml")
    assert after == before


def test_what_the_layout_has_no_room_for_must_be_chosen(
    sqlite_engine: Engine, folder: Folder, tmp_path: Path
) -> None:
    def write(**choice: str) -> None:
        write_run_folders(sqlite_engine, "kindness", tmp_path / "out", choice=Choice(**choice))

    with pytest.raises(ImportRefused, match="there is no study 'kindness'"):
        write()
    import_(sqlite_engine, folder.path)
    import_(sqlite_engine, folder.path, run="second")
    with pytest.raises(ImportRefused, match=rf"in 2 runs \(kindness/{MODEL}, second/{MODEL}\).* with --run"):
        write()
    with pytest.raises(ImportRefused, match="has no run 'third'; there is kindness/"):
        write(run="third")
    judged = read_run_folder(folder.path, options=ReadingOptions(judge="gpt-5"))
    folder.edit("scores.json", lambda scores: scores[0].update(justification="Otherwise."))
    import_run_folder(sqlite_engine, judged)
    import_run_folder(sqlite_engine, read_run_folder(folder.path, options=ReadingOptions(judge="gemini-3")))
    with pytest.raises(ImportRefused, match=r"by 2 judges \(gemini-3 .*, gpt-5 .*name one with --judge"):
        write(run="kindness")
    write(run="kindness", judge="gpt-5")
    assert content(tmp_path / "out")[f"kindness/runs/{MODEL}/judge.yaml"]["slug"] == "gpt-5"
    with pytest.raises(ImportRefused, match="is not empty; name a new folder"):
        write(run="kindness", judge="gpt-5")
