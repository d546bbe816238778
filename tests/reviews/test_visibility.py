"""Who may see what, and when: every cell, and the log of what was sent."""

import itertools

import pytest
import typer
from sqlalchemy import Engine
from sqlmodel import select
from typer.testing import CliRunner

from app.cli import leaks as command_line
from impactbench.domain import Role
from impactbench.store import tables as t
from impactbench.store.engine import reading, writing
from reviews import desk
from reviews.adjudication import AdjudicationItem, Opinion
from reviews.blinding import BlindItem, BlindTurn, MetricQuestion
from reviews.blindness import visibility
from reviews.blindness.exposures import NoSuchStudy, exposures
from reviews.blindness.visibility import (
    Seen,
    Stage,
    Viewer,
    VisibilityRefused,
    may_see,
    require,
    stage_of,
    stage_of_study,
)
from tests.browser.desks import plain_turns, set_desks
from tests.reviews.invented_study import add_imported_labels, add_study

EXPECTED = """
                 | expert | methodologist | maintainer | adjudicator | public
transcript       | .CLR   | DCLR          | DCLR       | .CLR        | ...R
metric question  | .CLR   | DCLR          | DCLR       | .CLR        | ...R
own label        | .CLR   | ....          | ....       | .CLR        | ....
other labels     | ...R   | .CLR          | .CLR       | .CLR        | ...R
names of raters  | ....   | .CLR          | .CLR       | ....        | ....
rationales       | ...R   | .CLR          | .CLR       | .CLR        | ....
verdict          | ...R   | DCLR          | DCLR       | ....        | ...R
model name       | ...R   | DCLR          | DCLR       | ....        | ...R
polarity         | ...R   | DCLR          | DCLR       | ....        | ...R
gold marks       | ....   | DCLR          | DCLR       | ....        | ....
exposure log     | ....   | .CLR          | .CLR       | ....        | ....
scenario         | ...R   | DCLR          | DCLR       | ....        | ....
"""
"""Design, Collecting, Locked, Reported; a point is a no."""


def cells() -> dict[tuple[str, str, Stage], bool]:
    head, *rows = [[cell.strip() for cell in line.split("|")] for line in EXPECTED.strip("\n").splitlines()]
    return {
        (viewer, row[0], stage): letters[stage] != "."
        for row in rows
        for viewer, letters in zip(head[1:], row[1:], strict=True)
        for stage in Stage
    }


def test_the_table_names_every_cell() -> None:
    assert set(cells()) == set(itertools.product(map(str, Viewer), map(str, Seen), Stage))
    assert len(cells()) == 5 * 12 * 4


@pytest.mark.parametrize(("cell", "allowed"), list(cells().items()), ids=str)
def test_every_cell_is_as_expected(cell: tuple[str, str, Stage], allowed: bool) -> None:
    viewer, what, stage = Viewer(cell[0]), Seen(cell[1]), cell[2]
    assert may_see(viewer, what, stage) is allowed
    if allowed:
        require(viewer, what, stage)
    else:
        with pytest.raises(VisibilityRefused, match=f"the {what} is not for the {viewer}"):
            require(viewer, what, stage)


def test_the_table_cannot_be_changed() -> None:
    with pytest.raises(TypeError):
        visibility.POLICY[Viewer.PUBLIC, Seen.RATER_NAMES] = frozenset(Stage)  # type: ignore[index]


def test_while_experts_rate_they_meet_nobody_elses_opinion_and_nothing_of_the_model() -> None:
    hidden = {
        Seen.OTHER_LABELS,
        Seen.RATER_NAMES,
        Seen.RATIONALES,
        Seen.VERDICT,
        Seen.MODEL_NAME,
        Seen.POLARITY,
        Seen.SCENARIO,
    }
    assert not any(
        may_see(Viewer.EXPERT, what, stage) for what in hidden for stage in (Stage.COLLECTING, Stage.LOCKED)
    )


@pytest.mark.parametrize(
    ("viewer", "types"),
    [
        (Viewer.EXPERT, (BlindItem, BlindTurn, MetricQuestion)),
        (Viewer.ADJUDICATOR, (AdjudicationItem, Opinion)),
    ],
)
def test_what_a_page_receives_has_no_field_for_what_must_not_be_seen(
    viewer: Viewer, types: tuple[type, ...]
) -> None:
    closed = {"model", "family", "provider", "polarity", "judge", "rater", "raters", "panel", "judgment"}
    assert not may_see(viewer, Seen.MODEL_NAME, Stage.COLLECTING)
    for one in types:
        assert closed.isdisjoint(one.model_fields), one  # type: ignore[attr-defined]


def test_a_role_is_a_viewer_and_whoever_has_none_is_the_public() -> None:
    assert [Viewer.of(role) for role in (*Role, None)] == ["expert", "methodologist", "maintainer", "public"]


def test_a_review_set_is_collecting_until_it_is_locked_and_an_import_is_locked() -> None:
    made = {"study_id": 1, "slug": "s", "design_hash": "d"}
    opened = t.ReviewSet(**made, origin="design")
    locked = t.ReviewSet(**made, origin="design", locked_at=t.now())
    imported = t.ReviewSet(**made, origin="import")
    assert [stage_of(one) for one in (None, opened, locked, imported)] == [
        Stage.DESIGN,
        Stage.COLLECTING,
        Stage.LOCKED,
        Stage.LOCKED,
    ]
    opened.reported_at = locked.reported_at = t.now()
    assert [stage_of(one) for one in (opened, locked)] == [Stage.COLLECTING, Stage.REPORTED]


def test_a_study_is_as_far_as_its_least_advanced_set(sqlite_engine: Engine) -> None:
    add_study(sqlite_engine)
    assert stage_of_study(sqlite_engine, "winter") is Stage.DESIGN
    add_imported_labels(sqlite_engine, "elsewhere")
    assert stage_of_study(sqlite_engine, "winter") is Stage.LOCKED
    with writing(sqlite_engine) as session:
        session.add(t.ReviewSet(study_id=1, slug="one", origin="design", design_hash="d"))
    assert stage_of_study(sqlite_engine, "winter") is Stage.COLLECTING


@pytest.fixture
def shown(engine: Engine) -> Engine:
    """Two raters, one of whom was sent an item twice."""
    set_desks(engine, [plain_turns(1), plain_turns(2)], "kestrel", "wren", base_url="http://here")
    with reading(engine) as session:
        seats = session.exec(select(t.Assignment).order_by(t.Assignment.id)).all()  # type: ignore[arg-type]
    for seat in (seats[0], seats[1], seats[0]):
        desk.record_exposure(engine, seat.rater_id, seat.code)
    return engine


def test_the_log_says_who_was_sent_what_in_order(shown: Engine) -> None:
    log = exposures(shown, "winter")
    assert log["rater"].tolist() == ["kestrel", "wren", "kestrel"]
    assert log["conversation"].nunique() == 1
    assert log["shown_at"].is_monotonic_increasing
    assert set(log["metric"]) == {"m01"}
    with pytest.raises(NoSuchStudy, match="there is no study 'summer'"):
        exposures(shown, "summer")


def test_the_command_prints_the_log_as_csv(shown: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command_line, "open_database", lambda: shown)
    cli = typer.Typer()
    cli.command()(command_line.exposures)
    lines = CliRunner().invoke(cli, ["winter"]).output.splitlines()
    assert lines[0] == "shown_at,rater,panel,review_set,code,benchmark,metric,version,run,conversation,repeat"
    assert [line.split(",")[1:4] for line in lines[1:]] == [
        [name, "external", "one"] for name in ("kestrel", "wren", "kestrel")
    ]
    assert lines[1].split(",")[0].endswith("Z")
