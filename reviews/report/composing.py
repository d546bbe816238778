"""A report from its data: figures, card, and the document in its order."""

from collections.abc import Mapping, Sequence
from typing import Any

from reviews.audit.judge import differing_items
from reviews.blindness.recognition import summarised
from reviews.evidence import StudyTables
from reviews.report.card import judge_card
from reviews.report.card_judges import own_family_sentence
from reviews.report.changes import card_of_changes, changes_section, revisions_in
from reviews.report.checklists import TITLES, Item, checklists
from reviews.report.document import Document, Quotation, Section, Table
from reviews.report.figures import Figures, JudgeFigures, compute
from reviews.report.package import Package, Turns, data_hash
from reviews.report.sections import people_sections
from reviews.report.sections_blinding import blinding_section
from reviews.report.sections_indeterminacy import indeterminacy_section
from reviews.report.sections_judge import judge_sections
from reviews.report.sections_plan import plan_section
from reviews.report.spelling import counted, first_of, share_of, spelled

MOST_QUOTED = 5
_ALARMS = 5
"""Alarms about single metrics that the summary repeats."""
_ROLES = {"user": "Person", "assistant": "Chatbot"}


def compose(
    package: Package,
    files: Mapping[str, bytes],
    *,
    figures: Figures | None = None,
    besides: Sequence[Section] = (),
) -> Document:
    """Compute everything and put it in order.

    Args:
        package: the data.
        files: the same as files, whose hash the card carries.
        figures: of the package, where they have been computed.
        besides: sections to put in after the summary.
    """
    tables, about = package.tables, package.about
    figures = figures or compute(tables)
    card = judge_card(figures, tables, about, data_hash=data_hash(files))
    lists = checklists(figures, card, about)
    card["checklists"] = {
        name: [{"asked": one.text, "verdict": one.verdict, "evidence": one.evidence} for one in items]
        for name, items in lists.items()
    }
    sections = people_sections(figures, card, about)
    sections.append(
        blinding_section(
            summarised(tables.recognised),
            by_design=card["design"]["blind_by_construction"],
            shared=about["shared"],
        )
    )
    for place, judge in enumerate(figures.judges, start=1):
        sections += judge_sections(judge, place, figures.policy)
    sections += indeterminacy_section(figures)
    if len(figures.judges) > 1:
        sections.append(_judges_compared(figures))
    revisions = revisions_in(tables, about)
    card["changes"] = card_of_changes(about, revisions)
    sections += [
        *changes_section(about, revisions),
        _differing(tables, figures, package.transcripts),
        plan_section(about),
        _checklists(lists),
        _recompute(card, about),
    ]
    study = about["study"]
    return Document(
        title=f"Reliability of experts and agreement with the judge: {study['title']}",
        subtitle=f"Study {study['slug']}, labels up to {about['data_as_of'][:10]}",
        notice=study["notice"],
        sections=(_in_short(figures, card), *besides, *sections),
        card=card,
    )


def _in_short(figures: Figures, card: Mapping[str, Any]) -> Section:
    panel = figures.paradox[0]
    said = [
        f"Check first, {one.judge.name}: {finding.sentence}"
        for one in figures.judges
        for finding in one.alarms[:_ALARMS]
    ]
    said += [
        f"Check first, {one.judge.name}: as much on {counted(more, 'further metric')}, named under the judge."
        for one in figures.judges
        if (more := len(one.alarms) - _ALARMS) > 0
    ]
    said += [
        f"Experts agree with each other on {spelled(panel.coefficients['agreement'], percent=True)}; ordinal α is"
        f" {spelled(panel.coefficients['alpha_ordinal'])}."
    ]
    said += [
        f"{one.judge.name} agrees with them on {share_of(one.whole.found.accuracy, 'items')} and passes"
        f" {share_of(one.whole.found.false_pass_rate, 'what they fail')}."
        for one in figures.judges
    ]
    said += [
        f"{one.judge.name} and its own family: {own_family_sentence(one)}"
        for one in figures.judges
        if one.own_family.levels["family"].verdict == "detected"
    ]
    contested = [figures.title(one) for one in figures.statuses if str(one.status) == "contested"]
    said.append(f"Contested: {first_of(contested) or 'no metric that could be assessed'}.")
    return Section(
        "short",
        "In short",
        f"{counted(card['experts']['n'], 'expert')}, {counted(figures.coverage[0].labels, 'label')},"
        f" {counted(len(figures.judges), 'judge')}.",
        tuple(said),
        tables=(Table("What must not be concluded", ("",), tuple((limit,) for limit in card["limits"])),),
    )


def _judges_compared(figures: Figures) -> Section:
    panel = figures.panel
    chosen = panel.choices[0]
    also = " The one that most often meets the experts’ majority is another." if panel.chosen_differs else ""
    rows = tuple(
        (one.judge.name, spelled(one.mse), spelled(one.accuracy, percent=True), spelled(one.kappa))
        for one in panel.choices
    )
    double = figures.double_difference
    sums = (
        tuple((f"{a} and {b}", spelled(found)) for (a, b), found in double.sums.items())
        if double is not None
        else ()
    )
    return Section(
        "judges",
        "Which judge to choose",
        f"{chosen.judge.name} comes nearest to what experts find defensible.{also}",
        (
            "Judges are chosen by their distance from the shares of experts who could defend each verdict; 0 is best.",
        ),
        tables=(
            Table("Judges on the same items", ("Judge", "Distance", "Accuracy", "Cohen’s κ"), rows),
            Table(
                "Agreement between judges",
                ("Judges", "Cohen’s κ"),
                tuple((" and ".join(pair), spelled(kappa)) for pair, kappa in panel.between.items()),
            ),
            Table("Sum of two judges’ preferences for their own families", ("Judges", "Sum"), sums),
        ),
    )


def _differing(tables: StudyTables, figures: Figures, transcripts: Turns) -> Section:
    quotations: list[Quotation] = []
    counts = []
    for one in figures.judges:
        items = differing_items(tables, one.judge)
        quoted = items.head(MOST_QUOTED if transcripts else 0).to_dict("records")
        some = f", of which {len(quoted)} are quoted" if 0 < len(quoted) < len(items) else ""
        counts.append(f"{one.judge.name}: {counted(len(items), 'item')}{some}")
        quotations += [_quotation(tables, one, row, transcripts) for row in quoted]
    shared = "" if transcripts else " The conversations are not part of this report."
    return Section(
        "differing",
        "Where a judge differs from every expert",
        f"{'; '.join(counts) or 'There is no judge to compare'}.{shared}",
        quotations=tuple(quotations),
    )


def _quotation(
    tables: StudyTables, one: JudgeFigures, row: Mapping[Any, Any], transcripts: Turns
) -> Quotation:
    turns = transcripts.get((row["run"], row["conversation"]), [])
    rows = tables.assignments
    labels = rows[
        (rows["conversation_id"] == row["conversation_id"])
        & (rows["metric_version_id"] == row["metric_version_id"])
        & rows["label"].notna()
    ]
    verdicts = tables.judgments[
        (tables.judgments["conversation_id"] == row["conversation_id"])
        & (tables.judgments["metric_version_id"] == row["metric_version_id"])
        & (tables.judgments["judge_id"] == one.judge.judge_id)
        & (tables.judgments["repeat"] == 0)
    ]
    said = [
        (str(label["rater"]), str(label["label"]), str(label["rationale"] or ""))
        for label in labels.to_dict("records")
    ]
    said += [
        (one.judge.name, "pass" if verdict["passed"] else "fail", str(verdict["justification"] or ""))
        for verdict in verdicts.to_dict("records")
    ]
    return Quotation(
        f"{row['conversation']}, {row['title']}",
        tuple((_ROLES.get(turn["role"], turn["role"]), turn["content"]) for turn in turns),
        Table("Who said what", ("Who", "Verdict", "Reason"), tuple(said)),
    )


def _checklists(lists: Mapping[str, list[Item]]) -> Section:
    unmet = sum(item.verdict not in ("met", "not applicable") for items in lists.values() for item in items)
    return Section(
        "checklists",
        "Checklists",
        f"{counted(unmet, 'item')} of {sum(map(len, lists.values()))} are not met, partly met, or not stated.",
        tables=tuple(
            Table(
                TITLES[name],
                ("", "Asked for", "Verdict", "Where, or why"),
                tuple(
                    (str(place), one.text, one.verdict, one.evidence)
                    for place, one in enumerate(items, start=1)
                ),
            )
            for name, items in lists.items()
        ),
    )


def _recompute(card: Mapping[str, Any], about: Mapping[str, Any]) -> Section:
    provenance = card["provenance"]
    rows = [
        ("Hash of the data", provenance["data_hash"]),
        ("Labels up to", provenance["data_as_of"]),
        ("Version of the program", provenance["code_version"]),
        ("Seed of every random draw", str(provenance["seed"])),
    ]
    rows += [
        (f"Review set {one['review_set']}", f"{one['origin']}, rubric {one['rubric_hash'][:12] or 'none'}")
        for one in about["review_sets"]
    ]
    return Section(
        "recompute",
        "How to recompute this report",
        "Every number follows from the files in data/: run “impactbench verify” on the folder of this report.",
        (f"Raters stand {about['shared']['raters']}.",),
        tables=(Table("Where it comes from", ("", ""), tuple(rows)),),
    )
