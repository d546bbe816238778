"""The audit of plain files, without a database: what a study's audit says, and what the files' own categories say."""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from reviews.files.tables import FileTables
from reviews.report.composing import compose
from reviews.report.document import Document, Section, Table
from reviews.report.figures import Figures, compute
from reviews.report.package import Package
from reviews.report.spelling import spelled
from reviews.report.statement import Statement
from validation.agreement import Agreement, coefficients, percent_agreement
from validation.graded import GradedComparison, compare_graded
from validation.ratings import Ratings
from validation.results import Estimate

WHOLE = "all"
MEANS = {
    "kappa_quadratic": "Cohen’s κ, quadratic, means taken to the nearest category",
    "pearson": "Pearson’s correlation",
    "spearman": "Spearman’s correlation",
    "same_side": "Same side of pass and fail",
    "mean_absolute_difference": "Mean distance",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Graded:
    """Agreement in one group of items, in the files' own categories."""

    group: str
    experts: Agreement
    judges: Agreement | None
    """Among judges; None where there is one."""
    judges_exact: Mapping[tuple[Hashable, Hashable], Estimate]
    """For each pair of judges, the share of items with the same verdict."""
    judges_and_experts: GradedComparison | None
    """The mean of the judges beside the mean of the experts; None where the categories have no numbers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileAudit:
    """All that an audit of files says."""

    graded: tuple[Graded, ...]
    """The whole, then each group."""
    figures: Figures
    """What an audit of a study says as well, in pass, borderline and fail."""
    notes: tuple[str, ...]


def audit_files(tables: FileTables) -> FileAudit:
    """Audit some files: the whole, then each group that the files name."""
    return FileAudit(
        graded=graded(tables),
        figures=compute(tables.study),
        notes=tables.notes,
    )


def graded(tables: FileTables) -> tuple[Graded, ...]:
    """Agreement in the files' own categories: the whole, then each group."""
    return tuple(_graded(name, tables, *part) for name, *part in _groups(tables))


def as_document(audit: FileAudit, tables: FileTables, files: Mapping[str, bytes]) -> Document:
    """The audit as a report, for a page and a judge card.

    Args:
        audit: the audit.
        tables: that it was made of.
        files: what was read, by name.
    """
    about: dict[str, Any] = {
        "study": {"slug": "files", "title": ", ".join(files), "notice": " ".join(audit.notes)},
        "review_sets": [{"review_set": "files", "origin": "import", "rubric_hash": ""}],
        "judges": {},
        "data_as_of": "not stated",
        "code_version": version("impactbench"),
        "shared": {"transcripts": False, "rationales": False, "raters": "as the files name them"},
        "plan": None,
        "changes": [],
        "roles": {"simulator": [], "author": []},
        **Statement().as_values(),
    }
    package = Package(tables=tables.study, about=about, transcripts={})
    return compose(package, files, figures=audit.figures, besides=[_graded_section(audit)])


def _graded_section(audit: FileAudit) -> Section:
    whole = audit.graded[0]
    tables = [
        Table(
            "Experts, in the categories of the files",
            ("Group", "Items", "Labels", "Percent agreement", "Ordinal α", "Nominal α"),
            tuple(_agreement_row(one.group, one.experts) for one in audit.graded),
        )
    ]
    if whole.judges is not None:
        tables.append(
            Table(
                "Judges among themselves, in the same categories",
                ("Group", "Items", "Verdicts", "Percent agreement", "Ordinal α", "Nominal α"),
                tuple(_agreement_row(one.group, one.judges) for one in audit.graded if one.judges),
            )
        )
        tables.append(
            Table(
                "Judges, in the same categories",
                ("Judges", "Same verdict", "Cohen’s κ", "Quadratic weights"),
                tuple(
                    (
                        " and ".join(map(str, pair)),
                        spelled(exact, percent=True),
                        spelled(whole.judges.cohen[pair]),
                        spelled(whole.judges.cohen_quadratic[pair]),
                    )
                    for pair, exact in whole.judges_exact.items()
                ),
            )
        )
    if (means := whole.judges_and_experts) is not None:
        tables.append(
            Table(
                "Mean of the judges beside mean of the experts",
                ("", "With 95% interval"),
                tuple((word, spelled(getattr(means, name))) for name, word in MEANS.items()),
            )
        )
    return Section(
        "categories",
        "In the categories of the files",
        f"Experts reach an ordinal α of {spelled(whole.experts.alpha_ordinal)}.",
        tables=tuple(tables),
    )


def _agreement_row(group: str, found: Agreement) -> tuple[str, ...]:
    return (
        group,
        str(found.n_items),
        str(found.n_ratings),
        spelled(found.agreement, percent=True),
        spelled(found.alpha_ordinal),
        spelled(found.alpha_nominal),
    )


def _groups(tables: FileTables) -> Iterator[tuple[str, pd.DataFrame, pd.DataFrame]]:
    labels, verdicts = tables.labels, tables.verdicts
    yield WHOLE, labels, verdicts
    for group in dict.fromkeys((*labels["group"].dropna(), *verdicts["group"].dropna())):
        yield str(group), labels[labels["group"] == group], verdicts[verdicts["group"] == group]


def _graded(group: str, tables: FileTables, labels: pd.DataFrame, verdicts: pd.DataFrame) -> Graded:
    words = tables.scale.words
    experts = Ratings.from_frame(labels, categories=words)
    judges = Ratings.from_frame(verdicts, categories=words)
    several = len(judges.raters) > 1
    return Graded(
        group=group,
        experts=coefficients(experts),
        judges=coefficients(judges) if several else None,
        judges_exact=_exact(judges) if several else {},
        judges_and_experts=_means(tables, labels, verdicts) if tables.scale.numbered else None,
    )


def _exact(judges: Ratings) -> dict[tuple[Hashable, Hashable], Estimate]:
    found = {}
    for a, b in combinations(range(len(judges.raters)), 2):
        pair = Ratings(
            judges.codes[:, [a, b]], judges.categories, judges.units, (judges.raters[a], judges.raters[b])
        )
        found[judges.raters[a], judges.raters[b]] = percent_agreement(pair)
    return found


def _means(tables: FileTables, labels: pd.DataFrame, verdicts: pd.DataFrame) -> GradedComparison:
    number = dict(zip(tables.scale.words, tables.scale.numbers, strict=True))
    judged, rated = (
        rows["value"].map(number).astype(float).groupby(rows["unit"]).mean() for rows in (verdicts, labels)
    )
    both = pd.DataFrame({"judges": judged, "experts": rated})
    return compare_graded(
        both["judges"], both["experts"], levels=tables.scale.numbers, threshold=_threshold(tables, number)
    )


def _threshold(tables: FileTables, number: Mapping[str, float]) -> float:
    """Halfway between the best category that fails and the worst that passes."""
    failing: Sequence[float] = [number[word] for word in tables.scale.fails]
    passing: Sequence[float] = [number[word] for word in tables.scale.passes]
    return float(np.mean([max(failing), min(passing)]))
