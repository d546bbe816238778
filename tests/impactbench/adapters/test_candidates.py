"""Other benchmarks become candidates beside their passages, and only what a person accepts becomes a metric."""

import asyncio
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from impactbench.adapters import ImportRefused
from impactbench.adapters.candidate_drafts import draft_candidates
from impactbench.adapters.candidate_review import accept_reviewed, write_review
from impactbench.adapters.candidates import Adapted
from impactbench.adapters.humanebench import read_humanebench
from impactbench.adapters.kora import read_kora
from impactbench.adapters.published_metrics import read_published_metrics
from impactbench.adapters.rubric_lines import read_rubric_lines
from impactbench.adapters.taxonomy import read_taxonomy
from impactbench.adapters.weval import read_weval
from impactbench.domain import Polarity
from impactbench.llm import FailureKind
from impactbench.metrics import load_suite
from impactbench.providers.scripted import Answer, Scripted

TAXONOMY = """
name: Gentle answers
categories:
  - name: Tone
    entries:
      - name: Mocks the person
        definition: The chatbot makes fun of the person.
        polarity: negative
        includes: [irony at their cost]
        excludes: [a joke that they asked for.]
        examples_present: [Nice try, genius.]
        subareas: [social-relationships, nowhere]
        colour: red
"""


@pytest.fixture
def weval(shared: Path) -> Path:
    return shared / "data/weval"


@pytest.mark.parametrize(
    ("name", "candidates"),
    [
        ("ai-psychosis.yml", 47),
        ("sycophancy-probe.yml", 90),
        ("homework-int-help-heuristics.yml", 60),
        ("llm-self-anthropomorphism-evasion.yml", 22),
        ("compass/agreeable.yml", 68),
        ("benchmarks/mart-multi-round-automatic-red-teaming.yml", 84),
        ("test.yml", 4),
    ],
)
def test_a_blueprint_of_any_shape_gives_its_criteria_in_words(
    weval: Path, name: str, candidates: int
) -> None:
    adapted = read_weval(weval / name)
    assert len(adapted.candidates) == candidates
    assert len({candidate.slug for candidate in adapted.candidates}) == candidates
    assert all(candidate.definition.definition in candidate.passage for candidate in adapted.candidates)


def test_what_a_blueprint_says_besides_becomes_a_note(weval: Path) -> None:
    adapted = read_weval(weval / "test.yml")
    by_place = {candidate.source_place: candidate for candidate in adapted.candidates}
    cited = by_place["prompt test-utility-and-full-syntax, should_not 1"]
    assert cited.definition.definition == "has falsehoods or misleading statements."
    assert cited.definition.polarity is Polarity.NEGATIVE
    assert "the source cites: my specific requirement [citation]" in cited.notes
    assert "not carried over: its system prompt (a list)" in adapted.notes
    checks = [note for note in adapted.notes if "checked by a function" in note]
    assert len(checks) == 17
    assert any("$is_json: [None]" in note for note in checks)

    messages = next(
        each
        for each in read_weval(weval / "ai-psychosis.yml").candidates
        if "romantic or exclusive" in each.passage
    )
    assert messages.passage.startswith("user: ")
    assert "\nassistant: " in messages.passage
    avoiding = [
        each for each in read_weval(weval / "ai-psychosis.yml").candidates if "NOT affirm" in each.passage
    ]
    assert "worded as an avoidance" in " ".join(avoiding[-1].notes)


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("maternal-health-uttar-pradesh.yml", "line 2: this is not valid YAML .*needs quotation marks, in the text 'title: Maternal"),
        ("eu-ai-act-202401689.yml", "line 3: this is not valid YAML .*needs quotation marks, in the text 'description: Tests"),
        ("visual/clocks.yml", "none of its 1 prompts has a criterion in words"),
        ("pluralism/distributional-label-tags.yml", "none of its 9 prompts has a criterion in words"),
    ],
)  # fmt: skip
def test_a_blueprint_that_cannot_be_adapted_is_refused_in_one_sentence(
    weval: Path, name: str, sentence: str
) -> None:
    with pytest.raises(ImportRefused, match=sentence):
        read_weval(weval / name)


def test_rubrics_and_taxonomies_of_others_give_both_polarities(shared: Path) -> None:
    humane = read_humanebench(shared / "data/humanebench")
    assert [each.definition.polarity for each in humane.candidates[:2]] == ["positive", "negative"]
    assert len(humane.candidates) == 16
    assert "100 prompts of the benchmark test this principle" in humane.candidates[0].notes

    kora = read_kora(shared / "data/kora/risks.json")
    assert (len(kora.candidates), {each.definition.polarity for each in kora.candidates}) == (
        26,
        {"negative"},
    )

    published = read_published_metrics(shared / "data/impactbench/platform/metrics-source.csv")
    taxonomy = json.loads((shared / "data/impactbench/platform/taxonomy.json").read_text())
    types = {
        metric["name"]: metric["type"]
        for area in taxonomy["areas"]
        for subarea in area["subareas"]
        for metric in subarea["metrics"]
    }
    assert len(published.candidates) == 360
    wrong = [each for each in published.candidates if types.get(each.definition.name) not in (None, each.definition.polarity)]  # fmt: skip
    assert wrong == []


def test_points_above_zero_are_wanted_and_below_unwanted(tmp_path: Path) -> None:
    shared_criterion = {"criterion": "Says when to see a doctor.", "points": 5, "tags": ["level:example"]}
    path = tmp_path / "health.jsonl"
    examples = [
        {
            "prompt": [{"role": "user", "content": f"It hurts ({number})."}],
            "rubrics": [shared_criterion, other],
        }
        for number, other in enumerate(
            ({"criterion": "Guesses.", "points": -8}, {"criterion": "Asks.", "points": 1})
        )
    ]
    path.write_text("\n".join(map(json.dumps, examples)))

    found = {each.definition.definition: each for each in read_rubric_lines(path).candidates}
    assert {text: each.definition.polarity.value for text, each in found.items()} == {
        "Says when to see a doctor.": "positive", "Guesses.": "negative", "Asks.": "positive",
    }  # fmt: skip
    assert "2 examples of the source share this criterion" in found["Says when to see a doctor."].notes
    path.write_text(json.dumps({"prompt": "x", "rubrics": [{"criterion": "Asks.", "points": 0}]}))
    with pytest.raises(ImportRefused, match=r"line 1: rubrics: entry 1: points is the number 0, it must be"):
        read_rubric_lines(path)


def test_boundary_conditions_become_the_interpretive_clause(tmp_path: Path) -> None:
    (tmp_path / "gentle.yaml").write_text(TAXONOMY)
    (candidate,) = read_taxonomy(tmp_path / "gentle.yaml").candidates
    assert candidate.definition.interpretive_clause == (
        "It counts: irony at their cost. It does not count: a joke that they asked for."
    )
    assert candidate.subareas == ("social-relationships",)
    assert "'nowhere' is none of the fourteen subareas" in candidate.notes
    assert "not carried over: colour" in candidate.notes

    (tmp_path / "gentle.csv").write_text("name,definition,excludes\nMocks,Makes fun.,a joke|a pun\n")
    with pytest.raises(
        ImportRefused, match="polarity is null, it must be 'positive' or 'negative'; --polarity"
    ):
        read_taxonomy(tmp_path / "gentle.csv")
    (candidate,) = read_taxonomy(tmp_path / "gentle.csv", polarity=Polarity.NEGATIVE).candidates
    assert candidate.definition.interpretive_clause == "It does not count: a joke. It does not count: a pun."


@pytest.fixture
def review(tmp_path: Path) -> Path:
    (tmp_path / "gentle.csv").write_text(
        "name,definition,polarity\nMocks,Makes fun.,negative\nThanks,Says thanks.,positive\nAsks,Asks.,positive\n"
    )
    write_review(read_taxonomy(tmp_path / "gentle.csv"), tmp_path / "candidates.yaml")
    return tmp_path / "candidates.yaml"


def decide(review: Path, *decisions: dict[str, Any]) -> None:
    head = review.read_text().partition("source:")[0]
    document = yaml.safe_load(review.read_text())
    for candidate, decision in zip(document["candidates"], decisions, strict=True):
        candidate["proposed"] |= decision.pop("proposed", {})
        candidate |= decision
    review.write_text(head + yaml.safe_dump(document, sort_keys=False))


def test_only_what_a_person_accepts_becomes_a_metric(review: Path, tmp_path: Path) -> None:
    decide(
        review,
        {"decision": "accept"},
        {"decision": "edit", "proposed": {"definition": "Thanks the person."}},
        {"decision": "reject", "because": "Too vague."},
    )
    accepted = accept_reviewed(review, tmp_path / "suite", by="Ana")

    assert (accepted.accepted, accepted.edited, accepted.rejected) == (1, 1, 1)
    metrics = {metric.slug: metric for metric in load_suite(tmp_path / "suite").metrics}
    assert set(metrics) == {"mocks", "thanks"}
    assert metrics["thanks"].definition.definition == "Thanks the person."
    assert metrics["mocks"].sources == ("Adapted from gentle.csv, line 2; reviewed by Ana.",)
    with pytest.raises(ImportRefused, match=r"gentle\.yaml is there already"):
        accept_reviewed(review, tmp_path / "suite", by="Ana")


ACCEPT = {"decision": "accept"}


@pytest.mark.parametrize(
    ("decisions", "sentence"),
    [
        ([ACCEPT, {}, {}], "candidate 'thanks': it has no decision (2 of 3 have none)"),
        (
            [{"decision": "yes"}, ACCEPT, ACCEPT],
            "candidate 'mocks': decision is the text 'yes', it must be accept",
        ),
        ([ACCEPT | {"proposed": {"name": "X"}}, ACCEPT, ACCEPT], "but the proposal was changed: write edit"),
        ([{"decision": "edit"}, ACCEPT, ACCEPT], "but the proposal is as it was"),
        ([{"decision": "reject"}, ACCEPT, ACCEPT], "it is rejected without a reason"),
        ([{"decision": "reject", "because": "x"}] * 3, "no candidate is accepted"),
        (
            [{"decision": "edit", "proposed": {"polarity": "good"}}, ACCEPT, ACCEPT],
            "polarity is the text 'good'",
        ),
    ],
)
def test_a_review_that_is_not_done_writes_nothing(
    review: Path, tmp_path: Path, decisions: list[dict[str, Any]], sentence: str
) -> None:
    decide(review, *(dict(decision) for decision in decisions))
    with pytest.raises(ImportRefused, match=re.escape(sentence)):
        accept_reviewed(review, tmp_path / "suite", by="Ana")
    assert list(tmp_path.glob("suite/*")) == []


DRAFT = {
    "name": "Makes fun of the person",
    "polarity": "positive",
    "definition": "The chatbot ridicules the person.",
    "question": "Does it ridicule the person?",
    "interpretive_clause": "One instance is enough. Irony at the person's cost counts.",
    "examples_present": ["Ha, you."],
    "examples_absent": ["I see."],
}


@pytest.mark.parametrize(
    ("answer", "drafted", "noted"),
    [
        (json.dumps(DRAFT), True, "the draft is positive, the source negative: see which is meant"),
        ("Sure! " + json.dumps(DRAFT), False, "it is not one JSON object"),
        (json.dumps(DRAFT | {"verdict": "accept"}), False, "it must have exactly the fields"),
        (json.dumps(DRAFT | {"examples_present": "Ha"}), False, "examples_present must be a list of texts"),
        (Answer(fail=FailureKind.TIMEOUT), False, "drafted nothing"),
        (Answer(text="{", finish_reason="length"), False, "was cut off"),
    ],
)
def test_a_models_draft_stands_beside_the_passage_or_is_not_used(
    tmp_path: Path, answer: str | Answer, drafted: bool, noted: str
) -> None:
    (tmp_path / "gentle.yaml").write_text(TAXONOMY)
    adapted = read_taxonomy(tmp_path / "gentle.yaml")
    provider = Scripted(lambda _: answer)
    (candidate,) = asyncio.run(draft_candidates(adapted, provider, model="some/model")).candidates

    assert candidate.passage == adapted.candidates[0].passage
    assert candidate.passage in provider.requests[0].messages[-1].content
    assert candidate.drafted_by == ("some/model" if drafted else "")
    assert (candidate.definition.name == DRAFT["name"]) is drafted
    assert noted in " ".join(candidate.notes)


def test_a_review_file_with_decisions_is_never_written_over(review: Path) -> None:
    again: Callable[[], None] = lambda: write_review(  # noqa: E731
        Adapted(format="x", source_file="x", title="x", candidates=()), review
    )
    with pytest.raises(ImportRefused, match="is there already and may hold decisions"):
        again()
