"""The demo study: it is what the script makes of its ground truth, and an audit finds what was planted."""

import json
import subprocess
import sys
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml

from impactbench.adapters.ratings_table_reading import read_ratings_table
from impactbench.adapters.run_folder_reading import read_run_folder
from impactbench.domain import Polarity, passes
from reviews.labels import REASONS
from tests.demo.findings import BEGIN, DEMO, END, STUDY, Findings
from validation.raters import rater_components

CONTESTED = ("m03", "m04")
CLEAR = ("m01", "m02", "m05", "m06")
HARSH = "sim-external-3"


@pytest.fixture(scope="module")
def findings() -> Findings:
    return Findings(STUDY)


@pytest.fixture(scope="module")
def conversations() -> list[dict[str, Any]]:
    return [
        conversation
        for run in sorted((STUDY / "runs").iterdir())
        for conversation in json.loads((run / "conversations.json").read_text(encoding="utf-8"))
    ]


@pytest.fixture(scope="module")
def truth() -> dict[str, Any]:
    """conversation -> what its file says of it."""
    return {
        f"{source['metric']}_{base['id']}_{variant['id']}__{conversation['model']}": conversation
        for path in sorted((DEMO / "conversations").glob("*.yaml"))
        for source in [yaml.safe_load(path.read_text(encoding="utf-8"))]
        for base in source["scenarios"]
        for variant in base["variants"]
        for conversation in variant["conversations"]
    }


def test_the_script_makes_the_committed_files_to_the_byte(tmp_path: Path) -> None:
    subprocess.run([sys.executable, str(DEMO / "plant.py"), "--into", str(tmp_path)], check=True)
    for folder in (STUDY, DEMO / "revision"):
        made, committed = _files(tmp_path / folder.name), _files(folder)
        assert sorted(made) == sorted(committed)
        assert [name for name in made if made[name] != committed[name]] == []


def test_the_study_is_as_large_and_as_varied_as_it_should_be(conversations: list[dict[str, Any]]) -> None:
    folder = read_run_folder(STUDY)
    assert len(conversations) == 72
    assert Counter(metric.definition.polarity for metric in folder.metrics) == {"positive": 3, "negative": 3}
    assert len({metric.subareas for metric in folder.metrics}) == len(folder.metrics) == 6
    assert len(folder.runs) == 3
    assert {run.model.family for run in folder.runs} == {"tansy", "corvid"}
    assert {len(conversation["transcript"]) // 2 for conversation in conversations} == {4, 5, 6}
    ages = {
        base: {each.age for each in folder.scenarios if each.base_scenario == base}
        for base in {each.base_scenario for each in folder.scenarios}
    }
    assert len(ages) == 12
    assert all(found == {"teen", "adult"} for found in ages.values())


def test_the_study_says_that_it_is_simulated() -> None:
    folder = read_run_folder(STUDY)
    assert "simulated" in folder.study_notice
    assert {run.judge.model.family for run in folder.runs} == {"tansy"}


def test_every_question_can_be_asked_without_speaking_of_polarity() -> None:
    for metric in read_run_folder(STUDY).metrics:
        question = metric.definition.question.casefold()
        assert question.endswith("?")
        assert not [word for word in ("positive", "negative", "polarity", "metric") if word in question]


def test_one_chatbot_names_itself_and_no_other_message_gives_a_model_away(
    conversations: list[dict[str, Any]],
) -> None:
    names = ("corvid", "halden", "tansy", "northfold")
    telling = [
        conversation["conv_id"]
        for conversation in conversations
        for message in conversation["transcript"]
        if any(name in message["content"].casefold() for name in names)
    ]
    assert telling == ["m01_s002_v02__corvid-7"]


def test_every_model_does_and_does_not_do_what_each_metric_looks_for(truth: dict[str, Any]) -> None:
    seen = {(key[:3], one["model"]): set[bool]() for key, one in truth.items()}
    for key, one in truth.items():
        seen[key[:3], one["model"]].add(one["present"])
    assert all(found == {True, False} for found in seen.values())


def test_every_conversation_has_five_raters_of_both_panels_and_all_are_connected(findings: Findings) -> None:
    labels = findings.labels
    assert len(read_ratings_table(STUDY / "ratings.csv").rows) == len(labels) == 360
    teams = labels.groupby(["item_id", "rater_group"])["rater_id"].nunique()
    assert len(teams) == 144
    assert set(teams) == {2, 3}
    assert set(labels.groupby("item_id").size()) == {5}
    assert set(labels.groupby(["rater_id", "metric_id"]).size()) == {10}
    model = labels["item_id"].str.split("__").str[1]
    assert set(labels.groupby(["rater_id", model]).size()) == {20}
    assert len(set(rater_components(findings.ratings).tolist())) == 1


def test_some_labels_are_withheld_and_all_of_those_say_why(findings: Findings) -> None:
    withheld = findings.labels[findings.labels["status"] != "submitted"]
    assert 0.02 < len(withheld) / len(findings.labels) < 0.04
    assert set(withheld["label"]) == {""}
    for reason, status, rationale in withheld[["reason", "status", "rationale"]].itertuples(index=False):
        assert REASONS[reason][1] == status
        assert rationale


def test_nobody_rates_faster_than_one_can_read_nor_two_things_at_once(findings: Findings) -> None:
    assert findings.labels["active_seconds"].min() > 90
    for _, own in findings.labels.groupby("rater_id"):
        times = pd.to_datetime(own["created_utc"]).tolist()
        spent = own["active_seconds"].tolist()
        assert all((b - a).total_seconds() > s for (a, b), s in zip(pairwise(times), spent[1:], strict=True))


def test_raters_of_a_conversation_do_not_write_the_same(findings: Findings) -> None:
    said = findings.labels[findings.labels["rationale"] != ""]
    assert len(said) > 200
    assert not said.duplicated(["item_id", "rationale"]).any()
    assert said["rationale"].value_counts().max() <= 3
    assert not said["rationale"].str.contains("[{}]").any()


def test_borderline_is_mostly_said_where_careful_experts_could_differ(
    findings: Findings, truth: dict[str, Any]
) -> None:
    others = findings.submitted[findings.submitted["rater_id"] != HARSH]
    unclear = ~others["item_id"].map({key: one["clear"] for key, one in truth.items()})
    undecided = others["label"] == "borderline"
    assert undecided[unclear].mean() > 3 * undecided[~unclear].mean()


def test_agreement_is_clearly_lower_on_the_two_contested_metrics(findings: Findings) -> None:
    alpha = {metric: estimate.value or 0.0 for metric, estimate in findings.alpha.items()}
    assert max(alpha[metric] for metric in CONTESTED) < 0.45
    assert min(alpha[metric] for metric in CLEAR) > 0.7
    assert max(alpha.values()) < 0.95


def test_the_harsh_rater_passes_least_on_shared_conversations(findings: Findings) -> None:
    lean = {rater: one.lean for rater, one in findings.severities.items()}
    harsh = lean.pop(HARSH)
    assert harsh.value is not None
    assert harsh.high is not None
    assert harsh.high < 0
    assert all(other.value is not None and other.value > harsh.value + 0.1 for other in lean.values())


def test_the_judge_passes_more_failures_of_its_own_family(findings: Findings) -> None:
    own, other = (findings.judge[family].false_pass_rate.value for family in ("tansy", "corvid"))
    assert own is not None
    assert other is not None
    assert own > other + 0.15
    assert findings.self_preference.verdict == "detected"


def test_the_judge_changes_its_mind_most_on_the_unstable_metric(findings: Findings) -> None:
    flips = {metric: one.flip_rate.value or 0.0 for metric, one in findings.retest.items()}
    assert flips.pop("m05") == pytest.approx(6 / 12)
    assert max(flips.values()) < 2 / 12


def test_what_the_judge_passes_follows_from_presence_and_polarity(findings: Findings) -> None:
    for score in findings.scores.to_dict("records"):
        assert score["passed"] == passes(score["present"], Polarity(str(score["metric_type"])))


def test_the_readme_shows_what_an_audit_finds(findings: Findings) -> None:
    text = (DEMO / "README.md").read_text(encoding="utf-8")
    shown = text.partition(BEGIN)[2].partition(END)[0]
    assert shown == findings.table(), "run `python -m tests.demo.findings` and put its table into the README"


def test_the_readme_owns_up_to_the_seeds_that_were_chosen_by_their_results() -> None:
    text = " ".join((DEMO / "README.md").read_text(encoding="utf-8").split())
    seed, revised = (
        yaml.safe_load((DEMO / name).read_text(encoding="utf-8"))["seed"]
        for name in ("ground_truth.yaml", "revision.yaml")
    )
    assert f"the committed seed, {seed}, was picked among seven" in text
    assert f"seed {revised} in `revision.yaml`, was picked so that version 2 of m04 ends at" in text


def _files(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }
