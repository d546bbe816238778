"""Pre-registration: the analysis plan is fixed and hashed before anybody could look, and what departs from it is listed."""

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import pandas as pd
import yaml
from pydantic import Field, ValidationError
from sqlalchemy import Engine, func
from sqlmodel import Session, col, select

from impactbench.domain import Content, ImpactBenchError, LabelStatus
from impactbench.store.engine import insert_if_absent, reading, writing
from impactbench.store.tables import Assignment, Label, Registration, ReviewSet, Study
from reviews.evidence import SEED, StudyTables
from validation.contested import CONCERNS
from validation.mapping import PRIMARY, Policy, admissible_policies
from validation.metric_evidence import THRESHOLDS

CUT_OFF, CLAIMED_ACCURACY, MARGIN, FALSE_FLAGS = 0.667, 0.75, 0.05, 0.10


class RegistrationRefused(ImpactBenchError):
    """An analysis plan that may not be registered; the text says why."""


class AnalysisPlan(Content):
    """What will be computed and how, fixed before looking. The defaults are what the audit does by itself."""

    primary_policy: Policy = PRIMARY
    """How labels become verdicts."""
    admissible_set: str = Field(default_factory=lambda: admissible_policies().sha256)
    """SHA-256 of the file that names the admissible readings of the labels."""
    thresholds: dict[str, float] = Field(
        default_factory=lambda: {domain.value: limit for domain, limit in THRESHOLDS.items()}
    )
    """Of each domain of concern about a metric."""
    false_flags: float = FALSE_FLAGS
    """The share of false flags that is tolerated."""
    cut_off: float = CUT_OFF
    """The alpha under which experts disagree too much."""
    claimed_accuracy: float = CLAIMED_ACCURACY
    """The accuracy that is claimed of the judge."""
    margin: float = MARGIN
    """How much further from the other experts than an expert the judge may be, and still be as good."""
    primary_figures: tuple[str, ...] = (
        "ordinal alpha among experts, random core, all metrics",
        "accuracy of the judge, primary policy, all metrics",
        "self-preference: judge minus experts, own family minus others",
    )
    """The figures that the study is about; all others are secondary."""
    judge: str | None = None
    """The judge that is audited; None where the study has one."""
    overlap: int | None = None
    """Raters of each item that were planned."""
    items: int | None = None
    """Items that were planned."""
    seed: int = SEED
    hypotheses: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Registered:
    """A plan as it was fixed."""

    revision: int
    plan: AnalysisPlan
    plan_hash: str
    labels_then: int
    """Labels that were in when it was fixed."""
    because: str
    created_at: datetime
    newly: bool = False

    @property
    def before_labels(self) -> bool:
        """Whether nobody could have looked."""
        return self.labels_then == 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Deviation:
    """Something that is not as the plan says."""

    what: str
    planned: str
    found: str


def read_plan(path: Path) -> AnalysisPlan:
    """An analysis plan from a YAML file; what it leaves out is what the audit does by itself.

    Raises:
        RegistrationRefused: the file is no plan; the text names the field.
    """
    try:
        document = yaml.safe_load(path.read_text(encoding="utf-8"))
        return AnalysisPlan.model_validate({} if document is None else document)
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise RegistrationRefused(f"{path} cannot be read as a plan in YAML: {error}") from error
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or "the document"
        raise RegistrationRefused(
            f"{path}: {where}: {first['msg']}; the fields of a plan are {', '.join(AnalysisPlan.model_fields)}"
        ) from error


def register(
    engine: Engine, study: str, plan: AnalysisPlan, *, because: str = "", at: datetime | None = None
) -> Registered:
    """Fix an analysis plan. The newest one again is itself; another one is an amendment, and both stay.

    Args:
        engine: the database.
        study: the study.
        plan: what is fixed.
        because: why an earlier plan is amended.
        at: the moment in a simulated study, whose labels are dated as well; now by default.

    Raises:
        RegistrationRefused: there is no such study, or an amendment does not say why.
    """
    with writing(engine) as session:
        study_id = session.exec(select(Study.id).where(Study.slug == study).with_for_update()).one_or_none()
        if study_id is None:
            raise RegistrationRefused(f"there is no study {study!r}")
        newest = _newest(session, study_id)
        if newest is not None and newest.plan_hash == plan.content_hash:
            return _registered(newest)
        if newest is not None and not because.strip():
            raise RegistrationRefused(
                f"the study {study!r} has a registered plan, and this one differs: say why it is amended"
            )
        insert_if_absent(
            session,
            Registration,
            [
                {
                    "study_id": study_id,
                    "revision": 1 if newest is None else newest.revision + 1,
                    "plan": plan.model_dump(mode="json"),
                    "plan_hash": plan.content_hash,
                    "labels_then": _labels(session, study_id),
                    "because": because.strip(),
                    **({} if at is None else {"created_at": at}),
                }
            ],
        )
        stored = _newest(session, study_id)
        if stored is None:
            raise RegistrationRefused("the plan was not stored: try again")
        return _registered(stored, newly=True)


def in_words(plan: AnalysisPlan) -> list[tuple[str, str]]:
    """What a plan says: the name of each part, and its words."""
    concerns = {domain.value: concern for domain, concern in CONCERNS.items()}
    said = {name: getattr(plan, name) for name in AnalysisPlan.model_fields}
    said["primary_policy"] = f"{plan.primary_policy.words} ({plan.primary_policy.name})"
    said["thresholds"] = {concerns.get(name, name): limit for name, limit in plan.thresholds.items()}
    return [(name.replace("_", " ").capitalize(), _shown(value)) for name, value in said.items()]


def registrations(engine: Engine, study: str) -> list[Registered]:
    """The registered plans of a study, the first one first."""
    with reading(engine) as session:
        rows = session.exec(
            select(Registration)
            .join(Study, col(Study.id) == Registration.study_id)
            .where(Study.slug == study)
            .order_by(col(Registration.revision))
        ).all()
        return [_registered(row) for row in rows]


def deviations(registered: list[Registered], tables: StudyTables) -> list[Deviation]:
    """What is not as the first registered plan says, computed from the plans, the program and the data."""
    if not registered:
        return [
            Deviation(what="registration", planned="a plan, before labels", found="no plan was registered")
        ]
    first = registered[0]
    found = []
    if not first.before_labels:
        found.append(
            Deviation(
                what="time of registration",
                planned="before any label",
                found=f"{first.labels_then} labels were in",
            )
        )
    elif early := int((pd.to_datetime(tables.assignments["labelled_at"], utc=True) < first.created_at).sum()):
        found.append(
            Deviation(
                what="time of registration",
                planned="before any label",
                found=f"{early} labels that came in afterwards are dated before it",
            )
        )
    for later in registered[1:]:
        found += [
            Deviation(
                what=f"{name.replace('_', ' ')}, amended {later.created_at:%Y-%m-%d} with {later.labels_then} labels in: {later.because}",
                planned=_shown(getattr(first.plan, name)),
                found=_shown(getattr(later.plan, name)),
            )
            for name in AnalysisPlan.model_fields
            if getattr(first.plan, name) != getattr(later.plan, name)
        ]
    return found + _by_the_program(registered[-1].plan) + _by_the_data(registered[-1].plan, tables)


def _by_the_program(plan: AnalysisPlan) -> list[Deviation]:
    """Where the audit computes otherwise than planned."""
    does = AnalysisPlan()
    fixed = ("admissible_set", "thresholds", "false_flags", "cut_off", "claimed_accuracy", "margin", "seed")
    found = [
        Deviation(
            what=name.replace("_", " "),
            planned=_shown(getattr(plan, name)),
            found=_shown(getattr(does, name)),
        )
        for name in fixed
        if getattr(plan, name) != getattr(does, name)
    ]
    if plan.primary_policy != does.primary_policy:
        found.append(
            Deviation(
                what="primary policy",
                planned=plan.primary_policy.words,
                found=f"pages show first: {does.primary_policy.words}",
            )
        )
    return found


def _by_the_data(plan: AnalysisPlan, tables: StudyTables) -> list[Deviation]:
    """Where the study has come out otherwise than planned."""
    found = []
    rows = tables.assignments[tables.assignments["repeat"] == 0]
    labels = (
        rows[rows["status"] == LabelStatus.SUBMITTED].groupby(["conversation_id", "metric_version_id"]).size()
    )
    if plan.items is not None and len(labels) < plan.items:
        found.append(Deviation(what="items with a label", planned=str(plan.items), found=str(len(labels))))
    if plan.overlap is not None and len(labels) and int((labels < plan.overlap).sum()):
        short = int((labels < plan.overlap).sum())
        found.append(
            Deviation(
                what="raters of an item",
                planned=str(plan.overlap),
                found=f"{short} of {len(labels)} items have fewer",
            )
        )
    judges = sorted(set(tables.judgments["judge"]))
    if plan.judge is not None and plan.judge not in judges:
        found.append(Deviation(what="judge", planned=plan.judge, found=", ".join(judges) or "none"))
    return found


def _shown(value: object) -> str:
    if isinstance(value, dict):
        return "; ".join(f"{name} {limit:g}" for name, limit in value.items())
    if isinstance(value, tuple):
        return "; ".join(map(str, value))
    return "not said" if value in (None, "") else str(value)


def _labels(session: Session, study_id: int) -> int:
    return session.exec(
        select(func.count(col(Label.id)))
        .join(Assignment, col(Assignment.id) == Label.assignment_id)
        .join(ReviewSet, col(ReviewSet.id) == Assignment.review_set_id)
        .where(Assignment.study_id == study_id)
    ).one()


def _newest(session: Session, study_id: int) -> Registration | None:
    return session.exec(
        select(Registration)
        .where(Registration.study_id == study_id)
        .order_by(col(Registration.revision).desc())
        .limit(1)
    ).first()


def _registered(row: Registration, *, newly: bool = False) -> Registered:
    return Registered(
        revision=row.revision,
        plan=AnalysisPlan.model_validate(row.plan),
        plan_hash=row.plan_hash,
        labels_then=row.labels_then,
        because=row.because,
        created_at=row.created_at,
        newly=newly,
    )
