"""The preview of a review set and its progress, as tables for people."""

from collections.abc import Sequence

import pandas as pd
from rich.table import Table
from rich.text import Text

from app.cli.terminal import out
from reviews.blindness.recognition import Recognition
from reviews.design.drafts import ReviewSetDraft
from reviews.design.planning import Outlook
from reviews.design.preview import balance_in_words, headline

_WIDEST_MATRIX = 10
_LONGEST_TABLE = 40


def print_preview(draft: ReviewSetDraft) -> None:
    """What would be opened: strata, raters, who meets whom, and what is less than wished."""
    summary = draft.summary
    out.print(headline(draft), markup=False)
    print_rows(
        "Strata",
        ["stratum", "conversations", "items", "chance"],
        [
            [s["stratum"], s["conversations"], s["items"], f"{s['inclusion_probability']:.3g}"]
            for s in summary["strata"]
        ],
    )
    print_rows(
        "Raters",
        [
            "rater",
            "panel",
            "items",
            "repeats",
            "gold",
            "hours",
            "sessions",
            "metrics",
            "families",
            "first option",
        ],
        [
            [
                f"{r['rater']} (new)" if r["new"] else r["rater"],
                r["panel"] or "none",
                r["items"],
                r["repeats"],
                r["gold"],
                f"{r['hours']:.1f}",
                r["sessions"],
                r["metrics"],
                r["families"],
                r["first_option"],
            ]
            for r in summary["raters"]
        ],
    )
    if len(summary["raters"]) <= _WIDEST_MATRIX:
        _print_in_common(draft.pair_matrix)
    for sentence in balance_in_words(draft):
        out.print(sentence, markup=False)
    for note in summary["notes"]:
        out.print(Text.assemble(("Note: ", "bold yellow"), note))
    out.print(f"Plan {summary['plan_hash'][:16]}", markup=False)


def _print_in_common(matrix: pd.DataFrame) -> None:
    """How many items each two raters share; where their names do not fit above the columns, numbers stand there."""
    names = list(map(str, matrix.index))
    above, beside = names, names
    if sum(len(name) + 3 for name in names) + max(map(len, names), default=0) + 4 > out.width:
        above = [str(number) for number in range(1, len(names) + 1)]
        beside = [f"{number} {name}" for number, name in zip(above, names, strict=True)]
    print_rows(
        "Items in common",
        ["", *above],
        [[name, *row] for name, row in zip(beside, matrix.to_numpy().tolist(), strict=True)],
    )


def print_progress(by_rater: pd.DataFrame, by_metric: pd.DataFrame) -> None:
    """Progress by rater and by metric, what is missing beside what is done."""
    counts = {
        "asked": "asked",
        "done": "done",
        "cannot_judge": "can't judge",
        "skipped": "skip",
        "waiting": "wait",
    }
    of_metric = {"metric": "metric", "version": "v", "items": "items", "with_one_label": "one label"}
    for title, frame, first in (
        ("By rater", by_rater, {"rater": "rater", "panel": "panel"}),
        ("By metric", by_metric, of_metric),
    ):
        columns = first | counts
        shown = frame[list(columns)].astype(object).where(frame[list(columns)].notna(), "none")
        print_rows(title, list(columns.values()), shown.to_numpy().tolist())


def print_recognition(found: Sequence[Recognition]) -> None:
    """Whether raters believe to have recognised a model, where some have been asked already."""
    for one in found:
        if one.waiting < one.asked:
            said = ", ".join(f"{option}: {number}" for option, number in one.answered.items())
            out.print(
                f"{one.review_set}: did you recognise a model? {said}; {one.waiting} still to be asked.",
                markup=False,
            )


def print_outlook(outlook: Outlook) -> None:
    """What a planned study would come to."""
    out.print(outlook.sentence, markup=False)
    print_rows(
        "What would come out",
        ["question", "over", "items", "result"],
        [[p.question, p.scope, p.items, p.because] for p in outlook.prospects],
    )
    print_rows(
        "The same hours with another overlap",
        ["overlap", "items", "agreement"],
        [
            [overlap, items, "not measurable" if width is None else f"±{width:.2f}"]
            for overlap, items, width in outlook.by_overlap
        ],
    )
    for note in outlook.notes:
        out.print(Text.assemble(("Note: ", "bold yellow"), note))


def print_rows(title: str, columns: list[str], rows: list[list[object]]) -> None:
    table = Table(title=title, title_justify="left", title_style="bold")
    for name in columns:
        numeric = any(isinstance(row[columns.index(name)], int) for row in rows)
        table.add_column(Text(name), justify="right" if numeric else "left", no_wrap=numeric, overflow="fold")
    for row in rows[:_LONGEST_TABLE]:
        table.add_row(*(Text(str(cell)) for cell in row))
    out.print(table, soft_wrap=False)
    if len(rows) > _LONGEST_TABLE:
        out.print(f"... and {len(rows) - _LONGEST_TABLE} more; --json has them all.", markup=False)
