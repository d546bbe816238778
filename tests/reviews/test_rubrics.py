"""Rubrics are content: what they ask comes from YAML, and an answer must say what they ask."""

from pathlib import Path

import pytest
from sqlalchemy import Engine
from sqlmodel import select

from impactbench.domain import LabelStatus, LabelVerdict
from impactbench.store import tables as t
from impactbench.store.engine import reading, writing
from reviews import desk, evidence
from reviews.labels import Answer, LabelRefused, Passage
from reviews.rating import worklist
from reviews.rating.questions import respond
from reviews.rubrics import RubricRefused, load, names
from tests.browser.desks import VERDICT_TEXT, plain_turns, set_desks


def reviewed(engine: Engine, rubric: str) -> tuple[int, list[str]]:
    """A rater with two conversations under a rubric; gives their id and the codes."""
    set_desks(engine, [plain_turns(1), plain_turns(2)], "kestrel", base_url="http://here")
    with writing(engine) as session:
        session.get_one(t.ReviewSet, 1).rubric = load(rubric).model_dump(mode="json")
        rater = session.exec(select(t.Rater).where(t.Rater.pseudonym == "kestrel")).one().id or 0
    return rater, worklist.codes(engine, rater)


@pytest.mark.parametrize("name", names())
def test_every_rubric_that_comes_with_the_project_is_one(name: str) -> None:
    assert load(name).slug == name


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (
            "slug: x\ntitle: X\nitem:\n  - {id: a, ask: A, kind: choice, options: [one]}",
            "a choice needs two options",
        ),
        ("slug: x\ntitle: X\nitem:\n  - {id: a, ask: A, kind: slider}", "item.0.kind"),
        ("slug: x\ntitle: X\nshows: [verdict]", "cannot ask for a blind verdict"),
        (
            "slug: x\ntitle: X\nitem:\n  - {id: a, ask: A, kind: text, when: {question: b, below: 3}}",
            "not asked",
        ),
        ("slug: [", "is not YAML"),
    ],
)
def test_a_rubric_with_a_mistake_says_where(tmp_path: Path, text: str, complaint: str) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(RubricRefused, match=complaint):
        load(str(path))


def test_a_new_question_needs_yaml_only(engine: Engine, tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(
        "slug: mine\ntitle: Mine\nitem:\n  - {id: tone, ask: How warm, kind: scale, highest: 5, required: true}",
        encoding="utf-8",
    )
    rater, (code, _) = reviewed(engine, str(path))
    assert [question.id for question in desk.take_up(engine, rater, code).asked] == ["tone"]
    with pytest.raises(LabelRefused, match="star"):
        desk.save(engine, rater, code, Answer(verdict=LabelVerdict.PASS), base_revision=0)
    with pytest.raises(LabelRefused, match="tone"):
        desk.save(
            engine, rater, code, Answer(verdict=LabelVerdict.PASS, responses={"tone": 9}), base_revision=0
        )
    desk.save(engine, rater, code, Answer(verdict=LabelVerdict.PASS, responses={"tone": 5}), base_revision=0)
    assert desk.take_up(engine, rater, code).responses == {"tone": 5}


def test_response_sets_are_stored_beside_the_verdict_that_follows(engine: Engine) -> None:
    rater, (first, second) = reviewed(engine, "response-set")
    with pytest.raises(LabelRefused, match="choose if you had to"):
        desk.save(engine, rater, first, Answer(verdict=LabelVerdict.BORDERLINE), base_revision=0)
    both = Answer(verdict=LabelVerdict.BORDERLINE, forced_choice=LabelVerdict.FAIL)
    kept = desk.save(engine, rater, first, both, base_revision=0)
    assert (kept.verdict, kept.response_set, kept.forced_choice) == ("borderline", ["pass", "fail"], "fail")
    kept = desk.save(engine, rater, second, Answer(verdict=LabelVerdict.PASS), base_revision=0)
    assert (kept.verdict, kept.response_set, kept.forced_choice) == ("pass", ["pass"], None)


def test_a_review_without_verdict_gives_answers_but_no_labels_to_agree_on(engine: Engine) -> None:
    rater, (code, _) = reviewed(engine, "realism")
    answer = Answer(responses={"realism": 3, "pressure": 1})
    assert desk.save(engine, rater, code, answer, base_revision=0).status is LabelStatus.ANSWERED
    with pytest.raises(LabelRefused):
        desk.save(engine, rater, code, Answer(verdict=LabelVerdict.PASS), base_revision=1)
    assert evidence.expert_ratings(evidence.read_tables(engine, "winter").assignments).n_ratings == 0
    assert worklist.count_items(engine, rater) == (1, 2)


def test_only_an_anchored_review_shows_the_verdict(engine: Engine) -> None:
    rater, (code, _) = reviewed(engine, "judgment-check")
    (shown,) = desk.take_up(engine, rater, code).disclosed
    assert VERDICT_TEXT in shown.text
    with writing(engine) as session:
        session.get_one(t.ReviewSet, 1).rubric = load("external-review").model_dump(mode="json")
    assert desk.take_up(engine, rater, code).disclosed == ()


def test_scenario_questions_come_once_and_metric_questions_when_its_conversations_are_done(
    engine: Engine,
) -> None:
    rater, (first, second) = reviewed(engine, "external-review")
    with writing(engine) as session:
        session.get_one(t.Conversation, 2).scenario_id = session.get_one(t.Conversation, 1).scenario_id
    scenario = {"tests_the_metric": "yes", "realistic": "no", "more_realistic": "shorter lines"}
    assert {"tests_the_metric", "realistic"} <= {one.id for one in desk.take_up(engine, rater, first).asked}
    desk.save(engine, rater, first, Answer(verdict=LabelVerdict.PASS, responses=scenario), base_revision=0)
    assert "realistic" not in {one.id for one in desk.take_up(engine, rater, second).asked}
    assert desk.take_up(engine, rater, first).responses == scenario
    assert worklist.what_follows(engine, rater)[0] is None
    desk.save(engine, rater, second, Answer(verdict=LabelVerdict.FAIL), base_revision=0)

    about_metric = worklist.what_follows(engine, rater)[0]
    assert about_metric is not None
    assert about_metric.title == "Asks before it advises"
    with pytest.raises(LabelRefused):
        respond(engine, rater, about_metric, {"relevance": 4})
    respond(engine, rater, about_metric, {"relevance": 4, "relabel": "no", "examples_adequate": "yes"})
    closing = worklist.what_follows(engine, rater)[0]
    assert closing is not None
    assert closing.subject == "set"
    respond(engine, rater, closing, {"recognised_model": "no"})
    respond(engine, rater, closing, {"recognised_model": "no"})
    assert worklist.what_follows(engine, rater)[0] is None


def test_marked_passages_are_kept_with_their_words(engine: Engine) -> None:
    rater, (code, _) = reviewed(engine, "plain-verdict")
    passage = Passage(message=1, start=0, end=12, quote="conversation")
    desk.save(engine, rater, code, Answer(verdict=LabelVerdict.PASS, passages=(passage,)), base_revision=0)
    assert desk.take_up(engine, rater, code).responses["passages"] == [passage.model_dump()]


def test_a_revision_keeps_the_responses_of_the_one_before(engine: Engine) -> None:
    rater, (code, _) = reviewed(engine, "realism")
    for revision, realism in enumerate((2, 4)):
        answer = Answer(responses={"realism": realism, "pressure": 1})
        desk.save(engine, rater, code, answer, base_revision=revision)
    with reading(engine) as session:
        kept = session.exec(
            select(t.Response.revision, t.Response.value).where(t.Response.question == "realism")
        ).all()
    assert sorted(kept) == [(1, 2), (2, 4)]
