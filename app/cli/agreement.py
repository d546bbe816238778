"""`impactbench agreement`: how far raters agree, from a plain table and without a database."""

import csv
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from app.cli.terminal import err, out
from impactbench.adapters.label_table import Columns, LabelTable, read_label_table
from validation.agreement import Agreement, coefficients
from validation.results import Estimate

MEANINGS = {
    "agreement": "share of pairs of raters who say the same, mean over items",
    "agreement_pairs": "the same over all pairs, so that items with more ratings weigh more",
    "fleiss": "Fleiss' kappa: agreement beyond chance, items with two ratings or more",
    "fleiss_gwet": "Fleiss' kappa in Gwet's form: single ratings enter chance",
    "conger": "Conger's kappa: chance from each rater's own habits",
    "alpha_nominal": "Krippendorff's alpha: any difference counts alike",
    "alpha_ordinal": "Krippendorff's alpha: a difference counts by what lies between",
    "alpha_interval": "Krippendorff's alpha: a difference counts by its square",
    "ac1": "Gwet's AC1: stays steady where nearly all ratings are the same",
    "bp": "Brennan-Prediger: chance is one over the number of categories",
}
"""What each coefficient says, in one line. 1 is full agreement; 0 is chance, where chance is taken off."""

REASONS = {
    "no_pairable_items": "no item has two ratings",
    "no_variation": "all ratings that can be compared are the same",
    "no_items": "there is no item",
    "no_ratings": "there is no rating",
}
PLACES = "the categories are words, so their places 1, 2, 3, ... stand for numbers"
_MOST_PAIRS = 15


def agreement(
    file: Annotated[Path, typer.Argument(help="CSV or Parquet, one row a label.")],
    item: Annotated[
        list[str] | None,
        typer.Option(
            help="Column of the item; repeat it where several name an item together; item_id by default."
        ),
    ] = None,
    rater: Annotated[str, typer.Option(help="Column of the rater.")] = "rater_id",
    label: Annotated[str, typer.Option(help="Column of the label.")] = "label",
    categories: Annotated[
        str | None,
        typer.Option(help="All categories in scale order, used or not: fail,borderline,pass."),
    ] = None,
    by: Annotated[str | None, typer.Option(help="Column of groups to show apart, such as metric_id.")] = None,
    cluster: Annotated[
        str | None, typer.Option(help="Column of what items share, such as metric_id: widens the intervals.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """How far raters agree, by ten coefficients with 95% intervals. An empty cell is no label."""
    columns = Columns(item=tuple(item or ["item_id"]), rater=rater, label=label, by=by, cluster=cluster)
    declared = next(csv.reader([categories], skipinitialspace=True), []) if categories is not None else None
    table = read_label_table(file, columns=columns, categories=declared)
    if not table.declared:
        err.print(
            f"Categories: {', '.join(map(str, table.categories))} (change with --categories).", markup=False
        )
    groups = ((name, coefficients(ratings)) for name, ratings in table.groups())
    if as_json:
        out.print_json(data={"groups": {name: _as_values(found, table) for name, found in groups}})
        return
    for name, found in groups:
        _print_group(name, found, table)


def _named(found: Agreement, table: LabelTable) -> dict[str, Estimate]:
    estimates: dict[str, Estimate] = {name: getattr(found, name) for name in MEANINGS}
    if not table.numeric and estimates["alpha_interval"].defined:
        estimates["alpha_interval"] = estimates["alpha_interval"].noting(PLACES)
    return estimates


def _as_values(found: Agreement, table: LabelTable) -> dict[str, Any]:
    values: dict[str, Any] = {name: _value(estimate) for name, estimate in _named(found, table).items()}
    for name in ("cohen", "cohen_quadratic"):
        values[name] = {"|".join(map(str, pair)): _value(e) for pair, e in getattr(found, name).items()}
    return {
        "n_items": found.n_items,
        "n_pairable_items": found.n_pairable_items,
        "n_ratings": found.n_ratings,
        "coefficients": values,
    }


def _value(estimate: Estimate) -> dict[str, Any]:
    evidence = {"n": estimate.n, "n_clusters": estimate.n_clusters, "notes": list(estimate.notes)}
    kept = {name: value for name, value in evidence.items() if value not in (None, [])}
    if not estimate.defined:
        return {"undefined_because": estimate.undefined_because, **kept}
    return {
        "value": estimate.value,
        "low": estimate.low,
        "high": estimate.high,
        "method": estimate.method,
        **kept,
    }


def _print_group(name: str, found: Agreement, table: LabelTable) -> None:
    out.print(
        f"{name}: {found.n_items} items, {found.n_pairable_items} with two ratings or more, "
        f"{found.n_ratings} ratings",
        style="bold",
        markup=False,
    )
    named = _named(found, table)
    rows = Table("coefficient", "value", "95% interval", "items", "what it says")
    for coefficient, estimate in named.items():
        rows.add_row(coefficient, *_cells(estimate), MEANINGS[coefficient])
    out.print(rows, soft_wrap=False)
    pairs = list(found.cohen.items())
    if pairs:
        kappas = Table("pair of raters", "Cohen's kappa", "95% interval", "items", "quadratic weights")
        for pair, estimate in pairs[:_MOST_PAIRS]:
            quadratic = _cells(found.cohen_quadratic[pair])[0]
            kappas.add_row(Text(" and ".join(map(str, pair))), *_cells(estimate), quadratic)
        out.print(kappas, soft_wrap=False)
        if len(pairs) > _MOST_PAIRS:
            out.print(f"... and {len(pairs) - _MOST_PAIRS} more pairs; --json has them all.", markup=False)
    for note in _distinct(note for estimate in named.values() for note in estimate.notes):
        out.print(Text.assemble(("Note: ", "bold yellow"), note))
    out.print()


def _cells(estimate: Estimate) -> tuple[str, str, str]:
    """Value, interval and number of items."""
    if estimate.undefined_because is not None:
        reason = estimate.undefined_because
        return "undefined", REASONS.get(reason, reason.replace("_", " ")), str(estimate.n)
    if estimate.low is None or estimate.high is None:
        return f"{estimate.value:.3f}", "none", str(estimate.n)
    return f"{estimate.value:.3f}", f"{estimate.low:.3f} to {estimate.high:.3f}", str(estimate.n)


def _distinct(notes: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(notes))
