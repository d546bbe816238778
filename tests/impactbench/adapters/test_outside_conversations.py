"""Conversations, scores and labels of other programs come in whole, and what is wrong with a file is named."""

import json
import re
import zipfile
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine
from sqlmodel import select

from impactbench.adapters import ImportRefused
from impactbench.adapters.inspect_log import read_inspect_log
from impactbench.adapters.outside_conversations import import_outside_study
from impactbench.adapters.ratings_table import import_ratings_table
from impactbench.adapters.run_folder import import_run_folder
from impactbench.adapters.run_folder_reading import read_run_folder
from impactbench.adapters.scout_validation import read_scout_validation
from impactbench.adapters.vera_mh import read_vera_mh
from impactbench.adapters.verdict_table import import_verdict_table, read_verdict_table
from impactbench.domain import Polarity
from impactbench.store import frames
from impactbench.store import tables as t
from impactbench.store.engine import writing
from tests.impactbench.adapters.folders import FIRST, MODEL, Folder

POPULARITY = "2025-05-12T20-28-13-04-00_popularity.json"


@pytest.fixture
def logs(shared: Path) -> Path:
    return shared / "data/inspect_logs"


@pytest.mark.parametrize(
    ("name", "samples", "present", "noted"),
    [
        ("log_formats.json", 1, {"match": [False]}, ""),
        ("log_formats.eval", 1, {"match": [False]}, ""),
        (POPULARITY, 3, {"match": [True, True, False]}, "the log ended as 'cancelled'"),
        ("2025-05-12T20-28-26-04-00_security-guide.json", 3, {"model_graded_fact": [True, True, True]}, ""),
        ("2025-02-11T15-17-00-05-00_popularity_dPiJifoWeEQBrfWsAopzWr.eval", 10, {}, "no sample has a score"),
    ],
)
def test_a_log_of_inspect_gives_conversations_and_verdicts(
    sqlite_engine: Engine, logs: Path, name: str, samples: int, present: dict[str, list[bool]], noted: str
) -> None:
    outside = read_inspect_log(logs / name)
    import_outside_study(sqlite_engine, outside, study="inspect")

    conversations = frames.conversations(sqlite_engine, "inspect")
    judgments = frames.judgments(sqlite_engine, "inspect")
    assert set(conversations["conversation"]) == {f"{number}_epoch_1" for number in range(1, samples + 1)}
    assert judgments["present"].tolist() == [value for values in present.values() for value in values]
    assert set(judgments["judge"]) == {f"inspect-scorer/{name}" for name in present}
    assert noted in " ".join(outside.notes)
    assert import_outside_study(sqlite_engine, outside, study="inspect").changed is False


def edited(logs: Path, tmp_path: Path, **sample: Any) -> Path:
    """A log whose first sample is another."""
    document = json.loads((logs / POPULARITY).read_text())
    document["samples"] = [document["samples"][0] | sample]
    path = tmp_path / "log.json"
    path.write_text(json.dumps(document))
    return path


def test_odd_samples_keep_their_meaning(logs: Path, tmp_path: Path) -> None:
    messages = [
        {"role": "user", "content": [{"type": "text", "text": "attachment://abc"}, {"type": "image"}]},
        {"role": "assistant", "content": "Let me look."},
        {"role": "tool", "content": "42"},
        {"role": "assistant", "content": "It is 42."},
    ]
    history = [{"value": "C"}, {"value": "I", "provenance": {"author": "ana", "timestamp": "2026-01-01"}}]
    scores = {
        "kept": {"value": "I", "history": history},
        "none": {"value": float("nan"), "reason": "grader_failed"},
        "partly": {"value": "P"},
    }
    sample = {"messages": messages, "scores": scores, "attachments": {"abc": "What is it?"}, "epoch": 2}
    outside = read_inspect_log(edited(logs, tmp_path, **sample, error={"message": "stopped"}))

    (conversation,) = outside.conversations
    assert (conversation.key, conversation.broken_off) == ("1_epoch_2", True)
    assert [turn.content for turn in conversation.turns] == ["What is it?", "Let me look.\n\nIt is 42."]
    assert [(each.present, each.unscored_because) for each in outside.verdicts] == [
        (True, ""),
        (None, "the scorer gave no score (grader_failed)"),
        (None, "the score is 'P', which is neither C nor I"),
    ]
    assert "1 replies of tools were left out" in outside.notes
    assert "1 scores were edited by somebody afterwards and count as they were first given" in outside.notes


def test_what_is_no_log_or_has_no_samples_is_refused(logs: Path, tmp_path: Path) -> None:
    with pytest.raises(ImportRefused, match=r"no samples to import .*its status is 'cancelled'"):
        read_inspect_log(logs / "2025-05-12T20-28-13-04-00_no-samples.json")
    with pytest.raises(ImportRefused, match="there is no such file"):
        read_inspect_log(tmp_path / "none.eval")
    (tmp_path / "other.json").write_text("[]")
    with pytest.raises(ImportRefused, match="this is not a log of Inspect"):
        read_inspect_log(tmp_path / "other.json")
    with zipfile.ZipFile(tmp_path / "other.eval", "w") as archive:
        archive.writestr("readme", "")
    with pytest.raises(ImportRefused, match=r"has no header\.json"):
        read_inspect_log(tmp_path / "other.eval")


def test_clinicians_ratings_stand_beside_their_transcripts(engine: Engine, shared: Path) -> None:
    folder = shared / "data/vera_mh"
    (ratings,) = folder.glob("*Ratings*.csv")
    outside = read_vera_mh(folder / "conversations", ratings=ratings)
    kept = import_outside_study(engine, outside)

    conversations = frames.conversations(engine, "vera-mh")
    labels = frames.assignments(engine, "vera-mh")
    assert len(conversations) == 12
    assert "402e12" in set(conversations["conversation"])
    assert set(conversations["model"]) <= {"gpt4o", "gemini3", "gpt5"}
    per_item = labels.groupby(["conversation_id", "metric_version_id"])["rater"].nunique()
    assert (len(per_item), set(per_item)) == (60, {3})
    assert set(labels["status"]) == {"submitted", "cannot_judge"}
    assert "234 rows are about 78 conversations without a transcript" in " ".join(kept.notes)
    assert import_outside_study(engine, outside).changed is False


def test_every_rating_of_a_clinician_can_be_kept_without_transcripts(
    sqlite_engine: Engine, shared: Path
) -> None:
    folder = shared / "data/vera_mh"
    (ratings,) = folder.glob("*Ratings*.csv")
    outside = read_vera_mh(folder / "conversations", ratings=ratings, without_transcripts=True)
    import_outside_study(sqlite_engine, outside)

    labels = frames.assignments(sqlite_engine, "vera-mh")
    assert (len(labels), labels["rater"].nunique(), labels["conversation_id"].nunique()) == (1350, 6, 90)
    assert (labels["status"] == "cannot_judge").sum() == 160
    assert list(frames.conversations(sqlite_engine, "vera-mh")["status"]).count("labels_only") == 78


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("Hello\nuser: hi\nchatbot: hello", "must begin with a line 'user: ...'"),
        ("user: hi\nuser: again", "message 2 is by the user, it must be by the chatbot"),
        ("user: hi\nchatbot:  \nuser: x", "message 2, by the chatbot, is empty"),
    ],
)
def test_a_transcript_that_is_not_one_is_named(tmp_path: Path, text: str, sentence: str) -> None:
    (tmp_path / "abc_Sky_model_run1.txt").write_text(text)
    with pytest.raises(ImportRefused, match=re.escape(sentence)):
        read_vera_mh(tmp_path)


def test_every_faulty_row_of_a_validation_table_is_named(sqlite_engine: Engine, shared: Path) -> None:
    folder = shared / "data/inspect_scout"
    demo = folder / "validation-demo"

    def read(path: Path, **more: Any) -> Any:
        return read_scout_validation(path, rater="validator", polarity=Polarity.NEGATIVE, **more)

    with pytest.raises(ImportRefused, match=r"line 2: target is 'asdf', it must be true or false; mend"):
        read(demo / "eval-awareness.csv")
    with pytest.raises(ImportRefused, match=r"line 20: the predicate 'icontains' compares texts \('stop'\)"):
        read(demo / "refusal.csv")
    table = read(demo / "refusal.csv", leave_out_faulty=True)
    assert sum(table.skipped.values()) == 1
    assert [row.verdict for row in table.rows if row.item == "DrBupuwbxtGY4Tgm7K48CV"] == ["fail"]

    several = read(folder / "validation/labels-validation.csv")
    assert {row.metric for row in several.rows} == {"safety", "accuracy", "toxicity"}
    imported = import_ratings_table(
        sqlite_engine, table, study="scout", without_transcripts=True, polarity=Polarity.NEGATIVE
    )
    assert imported.added == 19


@pytest.fixture
def study(engine: Engine, folder: Folder) -> Engine:
    import_run_folder(engine, read_run_folder(folder.path))
    return engine


def verdicts(tmp_path: Path, *lines: str, header: str = "item_id,metric_id,present,unscored_because") -> Path:
    path = tmp_path / "verdicts.csv"
    path.write_text("\n".join([header, *lines]), encoding="utf-8")
    return path


def test_a_second_judges_verdicts_stand_beside_the_first(study: Engine, tmp_path: Path) -> None:
    other = f"m02_s001_v02__{MODEL}"
    table = read_verdict_table(verdicts(tmp_path, f"{FIRST},m01,FALSE,", f"{other},,,refused"))
    imported = import_verdict_table(study, table, study="kindness", judge="gpt-5")
    again = import_verdict_table(study, table, study="kindness", judge="gpt-5")

    assert (imported.added, again.added) == (2, 0)
    judgments = frames.judgments(study, "kindness")
    second = judgments[judgments["judge"] == "gpt-5"]
    assert second["present"].astype(object).where(second["present"].notna(), None).tolist() == [False, None]
    assert second["unscored_because"].tolist() == ["", "refused"]
    assert len(judgments) == 6
    changed = read_verdict_table(verdicts(tmp_path, f"{FIRST},m01,true,"))
    with pytest.raises(ImportRefused, match=r"judgment kindness/.* is in the database with another present"):
        import_verdict_table(study, changed, study="kindness", judge="gpt-5")


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        (f"{FIRST},m01,maybe,", "line 2: present is 'maybe', it must be true or false"),
        (f"{FIRST},m01,true,late", "present is 'true' and unscored_because is 'late': one must be empty"),
        ("nowhere,m01,true,", "line 2: item 'nowhere' is not in study 'kindness'"),
        (f"{FIRST},m09,true,", "there is no version 1 of metric 'm09' in benchmark 'kindness'"),
        (",m01,true,", "line 2: the item_id is empty"),
    ],
)
def test_a_verdict_that_cannot_be_kept_is_named(
    sqlite_engine: Engine, folder: Folder, tmp_path: Path, line: str, sentence: str
) -> None:
    import_run_folder(sqlite_engine, read_run_folder(folder.path))

    def import_() -> None:
        table = read_verdict_table(verdicts(tmp_path, line))
        import_verdict_table(sqlite_engine, table, study="kindness", judge="gpt-5")

    with pytest.raises(ImportRefused, match=re.escape(sentence)):
        import_()


def test_verdicts_of_a_judge_that_is_there_are_that_judges(study: Engine, tmp_path: Path) -> None:
    with writing(study) as session:
        model, there = session.exec(select(t.Model.slug, t.Judge).join(t.Judge)).one()
        there.prompt_hash = "a" * 64
        session.add(there)
        number, prompt = there.id, there.prompt_hash
    header = "item_id,metric_id,present,repeat_no"
    for repeat, prompt_hash in ((7, prompt), (8, ""), (9, "b" * 64)):
        table = read_verdict_table(verdicts(tmp_path, f"{FIRST},m01,FALSE,{repeat}", header=header))
        import_verdict_table(study, table, study="kindness", judge=model, prompt_hash=prompt_hash)
    judgments = frames.judgments(study, "kindness").set_index("repeat")["judge_id"]
    assert judgments[7] == number
    assert len({judgments[7], judgments[8], judgments[9]}) == 3
