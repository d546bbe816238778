"""Who asks for a public page, of which study, and what they have chosen: everything that a page stands on."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sqlalchemy import Engine

from app.public.choices import Choices
from impactbench.domain import Role
from impactbench.store import frames
from impactbench.store.tables import Rater
from reviews.public.releasing import PublicStudy, public_studies, public_study
from reviews.public.results import PublicResults, kept_public

MEMBERS = (Role.METHODOLOGIST, Role.MAINTAINER)
"""Who sees what is not released. Whoever rates sees nothing here: what judges said, and of which model, would bias them."""


TOOLS = "tools"
"""The choice of pictures with tools, which is not in the form of a page and goes with every other choice."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Visit:
    """One request for a page that shows a study."""

    engine: Engine
    looking: Rater | None
    """Who has signed in; nobody for most."""
    study: PublicStudy
    results: PublicResults
    """What the study shows: everything on a page is from the same state of it."""
    asked: Mapping[str, str]
    """The choices that the address holds."""
    choices: Choices = field(repr=False)
    """The form of the page, in which the study is the first choice."""
    on_file: bool = False
    """Whether the page is written to a file, where nothing answers."""

    @property
    def maintains(self) -> bool:
        return self.looking is not None and self.looking.role is Role.MAINTAINER


def visit(engine: Engine, looking: Rater | None, asked: Mapping[str, str]) -> Visit | None:
    """A visit to the study that the address names, else to the first; None where there is none to show."""
    studies = _studies(engine, member=is_member(looking))
    if not studies:
        return None
    choices = Choices(asked)
    if asked.get(TOOLS) == "on":
        choices.keep(TOOLS, "on")
    study = choose_study(studies, choices)
    return Visit(
        engine=engine,
        looking=looking,
        study=study,
        results=kept_public(engine, study.slug, unreleased=True),
        asked=asked,
        choices=choices,
    )


def choose_study(studies: Sequence[PublicStudy], choices: Choices) -> PublicStudy:
    """The study to show, the first choice of every page."""
    by_slug = {study.slug: study for study in studies}
    chosen = choices.one(
        "Study", {slug: study.title or slug for slug, study in by_slug.items()}, name="study", kept=True
    )
    return by_slug[chosen]


def is_member(looking: Rater | None) -> bool:
    return looking is not None and looking.role in MEMBERS


def _studies(engine: Engine, *, member: bool) -> Sequence[PublicStudy]:
    released = public_studies(engine)
    if not member:
        return released
    known = {study.slug for study in released}
    others = [str(slug) for slug in frames.studies(engine)["study"] if slug not in known]
    return [*released, *(public_study(engine, slug, unreleased=True) for slug in others)]
