"""The sections of a report about the people: what was rated, how far they agree, which metrics are contested."""

from collections.abc import Mapping
from typing import Any

from reviews.audit.groups import Kind
from reviews.report.document import Section, Table
from reviews.report.figures import Figures
from reviews.report.pictures import forest
from reviews.report.reasons import in_a_sentence
from reviews.report.spelling import bounded, counted, no_interval, share_of, spelled
from reviews.report.statement import PARTS
from validation.contested import Status

CUT_OFF = 0.667
COEFFICIENTS = {
    "agreement": "Percent agreement",
    "alpha_ordinal": "Krippendorff’s α, ordinal",
    "alpha_nominal": "Krippendorff’s α, nominal",
    "alpha_borderline_passes": "α, borderline as pass",
    "alpha_borderline_fails": "α, borderline as fail",
    "fleiss": "Fleiss’ κ",
    "ac1": "Gwet’s AC1",
    "bp": "Brennan–Prediger",
}
STATUSES = {
    Status.CONTESTED: "Contested",
    Status.WATCH: "Watch",
    Status.NO_CONCERN_FOUND: "No concern found",
    Status.NOT_ASSESSED: "Not assessed",
}
_STATED = {
    "disciplines": "Disciplines",
    "standard": "Standard",
    "recruitment": "Recruitment",
    "conflicts": "Conflicts of interest",
    "compensation": "Compensation",
    "training": "Training",
    "information": "What raters were given",
    "blinding": "Blinding",
    "repeat_interval": "Time between repeats",
    "sampling": "Sampling",
    "sample_size": "Choice of numbers",
    "ties": "Ties",
    "phenomenon": "Phenomenon",
    "scope": "Scope",
    "rationale": "Why this study",
    "subjects": "What was rated",
    "relevance": "Meaning in practice",
    "representative": "Representativeness",
    "reuse": "Reused data",
    "contamination": "Contamination",
    "construct": "Construct validity",
    "licence": "Licence",
    "version": "Version of the judge",
    "rubric_visible": "What the judge saw of the rubric",
    "blind_to": "What the judge was not told",
}


def people_sections(figures: Figures, card: Mapping[str, Any], about: Mapping[str, Any]) -> list[Section]:
    """Frame, coverage, agreement, indeterminacy, raters, contested metrics."""
    return [
        _frame(figures, card, about),
        _coverage(figures),
        _agreement(figures),
        _raters(figures),
        _contested(figures),
    ]


def _frame(figures: Figures, card: Mapping[str, Any], about: Mapping[str, Any]) -> Section:
    frame, experts = card["frame"], card["experts"]
    said = {_STATED[name]: about[part][name] for part in PARTS for name in PARTS[part]}
    silent = ", ".join(name.lower() for name, text in said.items() if not text)
    roles = figures.roles
    matrix = tuple(
        (str(role), *("yes" if roles.loc[role, family] else "no" for family in roles.columns))
        for role in roles.index
    )
    return Section(
        "frame",
        "What was rated, and by whom",
        f"{counted(experts['n'], 'expert')} rated {counted(figures.coverage[0].items, 'item')} of"
        f" {counted(frame['conversations'], 'conversation')} under {counted(frame['metrics'], 'metric')};"
        f" {counted(len(figures.judges), 'judge')} and {counted(len(frame['models']), 'target model')}.",
        (
            "An item is one conversation under one metric.",
            *((f"Nothing is stated about: {silent}.",) if silent else ()),
        ),
        tables=(
            Table("Who plays which role", ("Role", *map(str, roles.columns)), matrix),
            Table(
                "What the study states about itself",
                ("", "Stated"),
                tuple((name, text) for name, text in said.items() if text),
            ),
        ),
    )


def _coverage(figures: Figures) -> Section:
    whole = figures.coverage[0]
    none, one, two, more = whole.by_raters
    rows = tuple(
        (
            row.group,
            *map(
                str, (row.items, *row.by_raters, row.labels, row.cannot_judge, row.skipped, row.not_yet_rated)
            ),
        )
        for row in figures.coverage
    )
    apart = (
        f" The raters fall into {whole.components} groups that share no item and cannot be compared."
        if whole.components > 1
        else ""
    )
    return Section(
        "coverage",
        "What was covered, and what was not",
        f"{counted(two + more, 'item')} of {whole.items:,} have two labels or more; {one:,} have one and can show no"
        f" disagreement, {none:,} have none.{apart}",
        (
            "“All metrics” are the versions in force: a version that another has replaced stands in a row of its own.",
        )
        if sum(row.items for row in figures.coverage[1:]) > whole.items
        else (),
        tables=(
            Table(
                "Coverage",
                (
                    "Group",
                    "Items",
                    "0 raters",
                    "1",
                    "2",
                    "3+",
                    "Labels",
                    "Can’t judge",
                    "Skipped",
                    "Not yet rated",
                ),
                rows,
            ),
        ),
    )


def _agreement(figures: Figures) -> Section:
    panel = figures.paradox[0]
    metrics = [(row.group.name, row.estimate) for row in figures.agreement if row.group.kind is Kind.METRIC]
    pooled = [row for row in figures.agreement if row.group.pooled]
    coefficients = tuple(
        (name, *(spelled(one.coefficients[key], percent=key == "agreement") for one in figures.paradox))
        for key, name in COEFFICIENTS.items()
    )
    specific = tuple(
        (str(verdict), *(spelled(one.specific[verdict], percent=True) for one in figures.paradox))
        for verdict in panel.specific
    )
    prevalence = (
        "Prevalence index (0 balanced, 1 all alike)",
        *(spelled(one.prevalence_index) for one in figures.paradox),
    )
    groups = tuple(one.group.name for one in figures.paradox)
    weighed = (
        (f"With extra raters weighed by their chances, ordinal α is {spelled(figures.weighted)}.",)
        if figures.weighted.defined
        else ()
    )
    open_verdicts = figures.indeterminacy
    return Section(
        "agreement",
        "How far experts agree",
        f"Experts agree on {spelled(panel.coefficients['agreement'], percent=True)}; ordinal α is"
        f" {spelled(panel.coefficients['alpha_ordinal'])}, against a cut-off of {CUT_OFF}. {panel.sentence}",
        (
            "Figures rest on the random core: items whose raters no label had a part in choosing.",
            "A label “borderline” says that both verdicts are defensible:"
            f" {share_of(open_verdicts.within, 'labels')} do. From the share of labels that pass to that of labels that could"
            f" pass it is {bounded(open_verdicts.pass_rate, percent=True)}.",
            *no_interval(row.estimate for row in pooled),
            *weighed,
        ),
        pictures=(
            (forest("agreement", metrics, title="Ordinal α", lowest=-0.5, cut_off=CUT_OFF),)
            if metrics
            else ()
        ),
        tables=(
            Table(
                "All coefficients, none picked for being the highest",
                ("", *groups),
                (*coefficients, prevalence),
            ),
            Table("Agreement on each verdict", ("Verdict", *groups), specific),
            Table(
                "Ordinal α by group",
                ("Group", "Ordinal α", "Items with two labels", "Labels"),
                tuple(
                    (row.group.name, spelled(row.estimate), str(row.n_pairable), str(row.n_ratings))
                    for row in pooled
                ),
            ),
        ),
    )


def _raters(figures: Figures) -> Section:
    rows = tuple(
        (
            str(row.rater),
            str(row.labels),
            row.words,
            spelled(row.lean),
            spelled(row.drift),
            spelled(row.repeated, percent=True) if row.repeated.n else "none was shown twice",
        )
        for row in figures.raters.raters
    )
    return Section(
        "raters",
        "The raters",
        figures.raters.sentence,
        (
            "Lean: own score minus that of the others on shared items, on a scale from 0 (fail) to 1 (pass). Drift: the share"
            " of passes in the last third of somebody’s items minus that in the first.",
        ),
        tables=(
            Table(
                "Raters",
                ("Rater", "Labels", "In words", "Lean", "Drift", "Hidden repeats answered alike"),
                rows,
            ),
        ),
    )


def _contested(figures: Figures) -> Section:
    counts = {status: sum(one.status is status for one in figures.statuses) for status in STATUSES}
    shown = ", ".join(f"{count} {STATUSES[status].lower()}" for status, count in counts.items())
    rows = tuple((figures.title(one), STATUSES[one.status], in_a_sentence(one)) for one in figures.statuses)
    return Section(
        "contested",
        "Which metrics are contested",
        f"Of {counted(len(figures.statuses), 'metric')}: {shown}.",
        (
            "“Not assessed” is no sign that a metric is sound: the data are too thin to say.",
            "Each probability is that the true quantity lies beyond its threshold; α is nominal here, its interval a Bayesian"
            " bootstrap over items.",
            *_whose(figures),
        ),
        tables=(Table("Status of each metric, the most pressing first", ("Metric", "Status", "Why"), rows),),
    )


def _whose(figures: Figures) -> tuple[str, ...]:
    """Whose verdicts count for a status, where there are several judges."""
    if figures.foremost is None or len(figures.judges) < 2:
        return ()
    return (
        f"What concerns a judge is about {figures.foremost.name}, which gave most verdicts; the others are compared below.",
    )
