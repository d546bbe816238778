"""What a report is made from, read from the database and cut down to what its maintainer shares."""

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

from sqlalchemy import Engine
from sqlmodel import Session, col, select

from impactbench.domain import ImpactBenchError
from impactbench.resources import family_of
from impactbench.store.engine import reading
from impactbench.store.tables import Conversation, Judge, Model, ReviewSet, Run, Study
from reviews.contested.change_log import change_log
from reviews.evidence import StudyTables, read_tables
from reviews.registration import deviations, registrations
from reviews.report.changes import stated
from reviews.report.package import Package, Turns
from reviews.report.statement import Statement


class ReportRefused(ImpactBenchError):
    """A report that cannot be made or checked; the text says why and what would be right."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sharing:
    """What leaves the house besides verdicts and labels."""

    transcripts: bool
    rationales: bool
    """Raters' reasons, the turns they point at, how they recognised a model, and the judge's justifications."""
    pseudonyms: bool = False
    """Raters under their own pseudonyms; otherwise they get new ones, R01, R02, ..."""


def gather(engine: Engine, study: str, *, sharing: Sharing, statement: Statement | None = None) -> Package:
    """A study as its report will hold it.

    Raises:
        ReportRefused: there is no such study, or nobody has labelled anything of it.
    """
    with reading(engine) as session:
        row = session.exec(select(Study).where(Study.slug == study)).first()
        if row is None:
            known = session.exec(select(Study.slug).order_by(col(Study.slug))).all()
            raise ReportRefused(
                f"there is no study {study!r}; there {'is' if len(known) == 1 else 'are'} {', '.join(known) or 'none yet'}"
            )
        about = _about(session, row)
        transcripts = _transcripts(session, study) if sharing.transcripts else {}
    tables = read_tables(engine, study)
    if not tables.assignments["label"].notna().any():
        raise ReportRefused(f"nobody has labelled anything of {study} yet; a report needs labels")
    about |= (statement or Statement()).as_values()
    about["data_as_of"] = max(stamp.isoformat() for stamp in tables.assignments["labelled_at"].dropna())
    about["code_version"] = version("impactbench")
    about["shared"] = {
        "transcripts": sharing.transcripts,
        "rationales": sharing.rationales,
        "raters": "under their pseudonyms" if sharing.pseudonyms else "under new names",
    }
    about["plan"] = _plan(engine, study, tables)
    about["changes"] = [stated(entry) for entry in change_log(engine, study)]
    return Package(tables=cut(tables, study, sharing), about=about, transcripts=transcripts)


def _plan(engine: Engine, study: str, tables: StudyTables) -> dict[str, Any] | None:
    """The plan that was frozen first and what departs from it; None where none was frozen."""
    registered = registrations(engine, study)
    if not registered:
        return None
    first = registered[0]
    return {
        "frozen": True,
        "hash": first.plan_hash,
        "frozen_at": first.created_at.isoformat(),
        "labels_then": first.labels_then,
        "says": first.plan.model_dump(mode="json"),
        "amendments": [one.because for one in registered[1:]],
        "deviations": [
            f"{one.what}: planned {one.planned}; found {one.found}." for one in deviations(registered, tables)
        ],
    }


def _about(session: Session, study: Study) -> dict[str, Any]:
    sets = session.exec(select(ReviewSet).where(ReviewSet.study_id == study.id).order_by(col(ReviewSet.slug)))
    judges = session.exec(
        select(Judge, Model).join(Model, col(Model.id) == Judge.model_id).order_by(col(Judge.id))
    )
    manifests = session.exec(select(Run.manifest).where(Run.study_id == study.id)).all()
    return {
        "study": {"slug": study.slug, "title": study.title, "notice": study.notice},
        "roles": {role: _families(manifests, role) for role in ("simulator", "author")},
        "review_sets": [
            {
                "review_set": one.slug,
                "origin": one.origin,
                "seed": one.seed,
                "overlap": one.overlap,
                "design_hash": one.design_hash,
                "rubric": str(one.rubric.get("slug", one.rubric.get("id", ""))),
                "rubric_hash": one.rubric_hash,
                "locked": one.locked_at is not None,
            }
            for one in sets
        ],
        "judges": {
            str(judge.id): {
                "model": model.slug,
                "provider": model.provider,
                "prompt_hash": judge.prompt_hash,
                "parameters": judge.parameters,
            }
            for judge, model in judges
        },
    }


def _families(manifests: Sequence[Mapping[str, Any]], role: str) -> list[str]:
    """The families of the models that played a role in making the conversations, as far as runs say it."""
    designs = [manifest.get("design") or {} for manifest in manifests]
    # Who writes the scenarios is the simulator, where a design names nobody else.
    calls = [design.get(role) or design.get("simulator") or {} for design in designs]
    names = {str(call.get("model", "")) for call in calls} - {""}
    known = {name: family_of(name) for name in names}
    return sorted({found.family if found else "unknown" for found in known.values()})


def _transcripts(session: Session, study: str) -> Turns:
    rows = session.exec(
        select(Run.slug, Conversation.key, Conversation.turns)
        .join(Run, col(Run.id) == Conversation.run_id)
        .join(Study, col(Study.id) == Run.study_id)
        .where(Study.slug == study)
    )
    return {(run, key): list(turns) for run, key, turns in rows if turns}


def cut(tables: StudyTables, study: str, sharing: Sharing) -> StudyTables:
    """The tables without what is not shared."""
    assignments, judgments = tables.assignments.copy(), tables.judgments.copy()
    reviewed, recognised = tables.metric_reviews, tables.recognised
    if not sharing.pseudonyms:
        answered = set(assignments.loc[assignments["status"] != "not_yet_rated", "rater"])
        everybody = [*assignments["rater"], *(reviewed["rater"] if len(reviewed) else [])]
        names = _new_names(everybody, answered, study)
        assignments["rater"] = assignments["rater"].map(names)
        reviewed = reviewed.assign(rater=reviewed["rater"].map(names)) if len(reviewed) else reviewed
    if not sharing.rationales:
        assignments["rationale"] = ""
        assignments["turns"] = [[] for _ in range(len(assignments))]
        judgments["justification"] = ""
        if len(recognised):
            recognised = recognised.assign(remark="")
    return StudyTables(
        tables.metrics, assignments, judgments, tables.decisions, tables.conversations, reviewed, recognised
    )


def _new_names(raters: Sequence[object], answered: Collection[str], study: str) -> Mapping[str, str]:
    """R01, R02, ... in an order that says nothing of the pseudonyms, the same every time; who answered comes first."""

    def drawn(name: str) -> str:
        return hashlib.sha256(f"{study}\0{name}".encode()).hexdigest()

    names = sorted({str(name) for name in raters}, key=drawn)
    names.sort(key=lambda name: name not in answered)
    width = max(2, len(str(len(names))))
    return {name: f"R{place:0{width}d}" for place, name in enumerate(names, start=1)}
