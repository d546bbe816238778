"""A run folder is read whole, and whatever is wrong with it is named."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from impactbench.adapters import ImportRefused
from impactbench.adapters.run_folder_reading import ReadingOptions, RunFolder, read_run_folder
from impactbench.adapters.run_folder_results import NO_SCORE, NO_VERDICT, count_verdicts
from impactbench.domain import AgeVariant, Polarity
from tests.impactbench.adapters.folders import FIRST, MODEL, Folder


def _read(folder: Folder, **options: Any) -> RunFolder:
    return read_run_folder(folder.path, options=ReadingOptions(**options))


def test_the_published_run_has_the_published_counts(shared: Path) -> None:
    folder = read_run_folder(shared / "data/impactbench/benchmarks/humanebench")

    counts = count_verdicts(folder.runs[0].scores)
    assert counts == {"present": 13, "absent": 5, "passed": 13, "failed": 5, "unscored": 0}
    assert (folder.slug, len(folder.metrics), len(folder.scenarios)) == ("humanebench", 3, 18)
    assert len(folder.runs[0].conversations) == 18


def test_one_run_is_read_by_its_own_folder(folder: Folder) -> None:
    assert read_run_folder(folder.run).slug == "kindness"
    assert len(read_run_folder(folder.run).runs) == 1


def test_anchors_ages_and_base_scenarios_come_out(folder: Folder) -> None:
    teen, adult = _read(folder).scenarios[:2]

    assert (teen.age, adult.age) == (AgeVariant.TEEN, AgeVariant.ADULT)
    assert teen.base_scenario == adult.base_scenario == "m01_s001"
    assert teen.anchors[0].instruction == "Begin."


@pytest.mark.parametrize(
    ("said", "age"),
    [
        ("teen", AgeVariant.TEEN),
        ("Teenager (13-17)", AgeVariant.TEEN),
        ("child", AgeVariant.TEEN),
        ("adult", AgeVariant.ADULT),
        (None, None),
    ],
)
def test_ages_are_understood_as_published_and_as_ours(
    folder: Folder, said: str | None, age: AgeVariant | None
) -> None:
    folder.edit("scenarios.json", lambda scenarios: scenarios[0]["demographic"].update(age=said))

    assert _read(folder).scenarios[0].age is age


def test_optional_fields_of_a_metric_are_taken(folder: Folder) -> None:
    more = {
        "question": "Does it?",
        "interpretive_clause": "Any turn counts.",
        "examples_absent": ["no"],
        "subareas": ["law", "creativity"],
        "evidence": "A book.",
    }
    folder.edit("benchmark.yaml", lambda content: content["metrics"][0].update(more))
    folder.edit("benchmark.yaml", lambda content: content.update(study={"title": "T", "notice": "Simulated"}))

    read = _read(folder)
    definition = read.metrics[0].definition
    assert (definition.question, definition.interpretive_clause) == ("Does it?", "Any turn counts.")
    assert (definition.examples_present, definition.examples_absent) == (("one", "two"), ("no",))
    assert read.metrics[0].subareas == ("law", "creativity")
    assert (read.study_title, read.study_notice) == ("T", "Simulated")


def test_the_lineage_of_a_model_is_read_off_its_name_or_its_file(folder: Folder) -> None:
    assert (_read(folder).runs[0].model.family, _read(folder).runs[0].model.provider) == (
        "anthropic",
        "Anthropic",
    )

    folder.edit("model.yaml", lambda _: {"family": "Tansy", "provider": "Northfold", "open_weight": True})
    model = _read(folder).runs[0].model
    assert (model.family, model.provider, model.open_weight, model.stated) == (
        "Tansy",
        "Northfold",
        True,
        True,
    )


def test_the_judge_is_named_by_its_file_by_an_option_or_not_at_all(folder: Folder) -> None:
    assert _read(folder).runs[0].judge.model.slug == "unnamed-judge"
    assert _read(folder, judge="gpt-5-1").runs[0].judge.model.family == "openai"

    folder.edit(
        "judge.yaml",
        lambda _: {"judge": {"slug": "owl-1", "family": "Owl", "prompt_hash": "p", "parameters": {"t": 0}}},
    )
    judge = _read(folder).runs[0].judge
    assert (judge.model.slug, judge.model.family, judge.prompt_hash) == ("owl-1", "Owl", "p")
    assert judge.parameters == {"t": 0}
    with pytest.raises(ImportRefused, match="slug is 'owl-1', but --judge says 'gpt-5-1'"):
        _read(folder, judge="gpt-5-1")


def test_repeats_of_the_judge_are_kept_apart(folder: Folder) -> None:
    folder.edit(
        "scores.json",
        lambda scores: scores.append({**scores[0], "sample": 1, "present": False, "passed": False}),
    )

    scores = [score for score in _read(folder).runs[0].scores if score.conversation == FIRST]
    assert [(score.repeat, score.present) for score in scores] == [(0, True), (1, False)]


def test_a_null_verdict_is_unscored_whatever_passed_says(folder: Folder) -> None:
    folder.edit("scores.json", lambda scores: scores[2].update(present=None, passed=True))

    score = _read(folder).runs[0].scores[2]
    assert (score.present, score.passed) == (None, None)
    assert score.unscored_because == f"{NO_VERDICT}; its passed: true was not taken over"


def test_conversations_without_a_score_are_unscored_where_that_is_allowed(folder: Folder) -> None:
    folder.edit("scores.json", lambda scores: scores[1:])
    assert [s.unscored_because for s in _read(folder, allow_unscored=True).runs[0].scores].count(
        NO_SCORE
    ) == 1

    (folder.run / "scores.json").unlink()
    counts = count_verdicts(_read(folder, allow_unscored=True).runs[0].scores)
    assert counts["unscored"] == 4


def test_polarity_is_applied_to_presence(folder: Folder) -> None:
    read = _read(folder)
    polarity = {metric.slug: metric.definition.polarity for metric in read.metrics}
    assert polarity == {"m01": Polarity.POSITIVE, "m02": Polarity.NEGATIVE}
    assert count_verdicts(read.runs[0].scores) == {
        "present": 4, "absent": 0, "unscored": 0, "passed": 2, "failed": 2,
    }  # fmt: skip


Change = Callable[[Any], Any]

FAULTS: dict[str, tuple[str, Change, str]] = {
    "present as a text": (
        "scores.json",
        lambda scores: scores[0].update(present="false"),
        f"score of conversation '{FIRST}': present is the text 'false', it must be true, false or null",
    ),
    "present as a number": ("scores.json", lambda scores: scores[0].update(present=1), "present is the number 1"),
    "present left out": ("scores.json", lambda scores: scores[0].pop("present") and None, "there is no 'present'"),
    "passed contradicts present": (
        "scores.json",
        lambda scores: scores[0].update(passed=False),
        f"'{FIRST}': passed is false, but present is true and the metric is positive, so it must be true",
    ),
    "no score": (
        "scores.json",
        lambda scores: scores[1:],
        f"conversation '{FIRST}' has no score (1 of 4 have none); judge the run to its end, or import them as"
        " unscored with --allow-unscored",
    ),
    "score of an unknown conversation": (
        "scores.json",
        lambda scores: scores[0].update(conv_id="nowhere"),
        "score of conversation 'nowhere': there is no such conversation in conversations.json",
    ),
    "score twice": ("scores.json", lambda scores: scores.append(scores[0]), "there are two with sample 0"),
    "score on another metric": (
        "scores.json",
        lambda scores: scores[0].update(metric_id="m02"),
        "metric_id is 'm02', but its scenario belongs to 'm01'",
    ),
    "repeat that is no number": ("scores.json", lambda scores: scores[0].update(sample="1"), "sample is the text '1'"),
    "conversation twice": (
        "conversations.json",
        lambda conversations: conversations.append(conversations[0]),
        f"conversation '{FIRST}': this conv_id is there twice",
    ),
    "two users in a row": (
        "conversations.json",
        lambda conversations: conversations[0]["transcript"][1].update(role="user"),
        "message 2 of the transcript is by the user, it must be by the assistant",
    ),
    "assistant begins": (
        "conversations.json",
        lambda conversations: conversations[0].update(transcript=conversations[0]["transcript"][1:]),
        "message 1 of the transcript is by the assistant, it must be by the user",
    ),
    "another role": (
        "conversations.json",
        lambda conversations: conversations[0]["transcript"][1].update(role="system"),
        "message 2 of the transcript has the role 'system'",
    ),
    "empty message": (
        "conversations.json",
        lambda conversations: conversations[0]["transcript"][1].update(content="  "),
        "the content of message 2 of the transcript is empty",
    ),
    "message that is no text": (
        "conversations.json",
        lambda conversations: conversations[0]["transcript"][1].update(content=["a"]),
        "the content of message 2 of the transcript is a list, it must be a text",
    ),
    "message that cannot be stored": (
        "conversations.json",
        lambda conversations: conversations[0]["transcript"][1].update(content="a\x00b"),
        "holds the character U+0000",
    ),
    "half a character": (
        "conversations.json",
        lambda conversations: conversations[0]["transcript"][1].update(content="\ud83d"),
        "holds half a character (U+D83D)",
    ),
    "no transcript": (
        "conversations.json",
        lambda conversations: conversations[0].update(transcript=[]),
        "its transcript is empty",
    ),
    "unknown scenario": (
        "conversations.json",
        lambda conversations: conversations[0].update(id="m09"),
        "its scenario 'm09' is not in scenarios.json",
    ),
    "another target": (
        "conversations.json",
        lambda conversations: conversations[0].update(target={"id": "gpt-5"}),
        f"its target is 'gpt-5', but it lies in the folder of '{MODEL}'",
    ),
    "conversation of another polarity": (
        "conversations.json",
        lambda conversations: conversations[0].update(metric_type="negative"),
        "metric_type is 'negative', but benchmark.yaml says that m01 is 'positive'",
    ),
    "a list that is no list": ("conversations.json", lambda _: {"a": 1}, "the file holds a mapping, it must be a list"),
    "unknown metric": (
        "scenarios.json",
        lambda scenarios: scenarios[0].update(metric_id="m07"),
        "scenario 'm01_s001_v01': metric_id is 'm07', which is not in benchmark.yaml; there is m01, m02",
    ),
    "scenario of another polarity": (
        "scenarios.json",
        lambda scenarios: scenarios[0].update(metric_type="negative"),
        "metric_type is 'negative', but benchmark.yaml says that m01 is 'positive'",
    ),
    "unknown age": (
        "scenarios.json",
        lambda scenarios: scenarios[0]["demographic"].update(age="Elder (70+)"),
        "scenario 'm01_s001_v01': demographic: age is 'Elder (70+)'",
    ),
    "scenario twice": (
        "scenarios.json",
        lambda scenarios: scenarios.append(scenarios[0]),
        "scenario 'm01_s001_v01': this id is there twice",
    ),
    "unknown polarity": (
        "benchmark.yaml",
        lambda content: content["metrics"][0].update(type="postive"),
        "metric 'm01': type is 'postive', it must be 'positive' or 'negative'",
    ),
    "metric twice": (
        "benchmark.yaml",
        lambda content: content["metrics"].append(content["metrics"][0]),
        "metric 'm01': metric 3 has the id of an earlier one",
    ),
    "unknown subarea": (
        "benchmark.yaml",
        lambda content: content["metrics"][0].update(subareas=["love"]),
        "there is no subarea 'love'",
    ),
    "no metrics": ("benchmark.yaml", lambda content: content.update(metrics=[]), "there are no metrics"),
    "no definition": (
        "benchmark.yaml",
        lambda content: content["metrics"][0].update(definition=None),
        "metric 'm01': definition is null, it must be a text",
    ),
    "judge of another family": (
        "model.yaml",
        lambda _: {"open_weight": "yes"},
        "open_weight is the text 'yes', it must be true, false or null",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("name", "change", "said"), FAULTS.values(), ids=FAULTS)
def test_a_fault_is_named_with_its_file(folder: Folder, name: str, change: Change, said: str) -> None:
    folder.edit(name, change)

    with pytest.raises(ImportRefused) as refused:
        _read(folder)
    assert said in str(refused.value)
    assert name in str(refused.value)


@pytest.mark.parametrize(
    ("break_it", "said"),
    [
        (lambda folder: folder.run.joinpath("scores.json").unlink(), "scores.json: there is no such file"),
        (
            lambda folder: folder.run.joinpath("conversations.json").unlink(),
            "conversations.json: there is no such",
        ),
        (
            lambda folder: folder.path.joinpath("scenarios.json").unlink(),
            "scenarios.json: there is no such file",
        ),
        (lambda folder: shutil.rmtree(folder.path / "runs"), "runs: there is no such folder"),
        (lambda folder: shutil.rmtree(folder.run), "runs: the folder is empty"),
        (lambda folder: shutil.rmtree(folder.path), "kindness: there is no such folder"),
        (
            lambda folder: folder.path.joinpath("benchmark.yaml").unlink(),
            "has neither benchmark.yaml nor conversations.json",
        ),
        (
            lambda folder: folder.run.joinpath("scores.json").write_text('[\n{"conv_id": 1,\n}]'),
            "scores.json, line 3: this is not valid JSON",
        ),
        (
            lambda folder: folder.path.joinpath("benchmark.yaml").write_text("name: a\nmetrics: [\n- }"),
            "benchmark.yaml, line 3: this is not valid YAML",
        ),
        (
            lambda folder: folder.run.joinpath("scores.json").write_bytes(b"\xff\xfe["),
            "scores.json: the file is not UTF-8 text (byte 1)",
        ),
    ],
)
def test_a_broken_folder_is_named(folder: Folder, break_it: Callable[[Folder], Any], said: str) -> None:
    break_it(folder)

    with pytest.raises(ImportRefused) as refused:
        _read(folder)
    assert said in str(refused.value)


def test_a_model_that_has_no_run_is_refused(folder: Folder) -> None:
    with pytest.raises(ImportRefused, match=f"there is no run of 'gpt-5'; there is {MODEL}"):
        _read(folder, models=["gpt-5"])
