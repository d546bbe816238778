"""What is on record of an expert, and that changing it touches nothing that they were given or said."""

import pytest
from sqlalchemy import Engine

from impactbench.domain import LabelVerdict, Panel
from impactbench.store import frames
from reviews import desk
from reviews.assignment import Member, PlanRefused
from reviews.design.review_sets import draft_review_set, save
from reviews.labels import Answer
from reviews.members.expertise import describe
from reviews.members.people import PersonRefused, deactivate, list_people
from reviews.rating import worklist
from tests.reviews.invented_study import add_raters, add_study

NEW = Member(name="heron", panel=Panel.EXTERNAL)
TWO = [Member(name=name, panel=Panel.EXTERNAL) for name in ("kestrel", "wren")]


@pytest.fixture
def opened(engine: Engine) -> Engine:
    """Sixteen conversations, eight of each maker's model, for each of two raters; kestrel has answered one."""
    add_study(engine)
    add_raters(engine, "kestrel", "wren", panel=Panel.EXTERNAL)
    save(engine, draft_review_set(engine, "winter", overlap=2, seed=0, raters=TWO))
    kestrel = int(frames.raters(engine).set_index("rater")["rater_id"]["kestrel"])
    code = worklist.codes(engine, kestrel)[0]
    desk.save(engine, kestrel, code, Answer(verdict=LabelVerdict.PASS), base_revision=0)
    return engine


def test_a_new_conflict_is_for_what_is_given_from_now_on(opened: Engine) -> None:
    before = frames.assignments(opened, "winter")
    found = describe(opened, "kestrel", conflicts=["tansy works", "kindness/m09"])
    answered = before[(before["rater"] == "kestrel") & before["label"].notna()]["conversation_id"]
    of = frames.conversations(opened, "winter").set_index("conversation_id")["family"]
    assert found.waiting == 8 - (of[answered.iloc[0]] == "Tansy")
    assert found.unheard_of == ("kindness/m09",)
    assert frames.assignments(opened, "winter").equals(before)
    assert found.notes[1].startswith(f"Items given already: {found.waiting} that")
    with pytest.raises(PlanRefused, match="these have a conflict of interest: kestrel"):
        draft_review_set(opened, "winter", slug="later", overlap=2, seed=0, raters=[TWO[0], NEW])


def test_what_is_not_mentioned_stays(opened: Engine) -> None:
    describe(opened, "wren", expertise=["sleep", " sleep ", ""], languages=["de"])
    found = describe(opened, "wren", conflicts=[])
    assert (found.expertise, found.languages, found.conflicts, found.waiting) == (("sleep",), ("de",), (), 0)
    assert [one.expertise for one in list_people(opened) if one.name == "wren"] == [("sleep",)]


def test_only_an_expert_who_is_here_is_described(engine: Engine) -> None:
    add_raters(engine, "heron")
    deactivate(engine, "heron")
    with pytest.raises(PersonRefused, match="has left"):
        describe(engine, "former-rater-1", expertise=["sleep"])
