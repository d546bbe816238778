"""Rates of places or models as a picture and as a table, helpful and harmful behaviour apart."""

from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from markupsafe import Markup

from app.public.charts import Dot
from app.public.parts import note
from app.public.tables import Cell, table
from impactbench.domain import Polarity
from reviews.public.checks import Checked
from reviews.public.evidence_marks import evidence_mark
from reviews.public.explore import PlaceRate
from reviews.public.wording import in_hundred
from validation.results import Estimate

Checks = Mapping[tuple[str, Polarity], Checked]
By = Literal["model", "place"]


def lines_of(rates: Sequence[PlaceRate], checked: Checks, *, of: By, names: Mapping[str, str]) -> list[Dot]:
    """Two marks for each model or place: what was shown and what was avoided."""
    return [
        Dot(row=_name(one, of, names), promoted=polarity is Polarity.POSITIVE, rate=rate, checked=found.known)
        for one in rates
        for polarity, rate in _both(one)
        if (found := checked.get((one.place, polarity))) is not None
    ]


def hollow(checked: Checks) -> Markup:
    """Says what hollow marks mean, where there are any."""
    if all(one.known for one in checked.values()):
        return Markup("")
    return note(
        "Hollow, dashed marks: experts have not checked the automatic judge there, or it is contested. The table says which."
    )


def rates_table(
    rates: Sequence[PlaceRate],
    checked: Checks,
    *,
    of: By,
    names: Mapping[str, str],
    where: Callable[[PlaceRate], str],
) -> Markup:
    """The same in numbers and words, with the state of the evidence; each row leads on."""
    rows: list[list[Cell | str]] = [
        [
            Cell(text=_name(one, of, names), where=where(one), long=True),
            Cell(text=in_hundred(one.positive), whole=True),
            Cell(text=in_hundred(one.negative), whole=True),
            str(one.n_metrics),
            Cell(text=_states(checked, one.place), long=True),
        ]
        for one in rates
    ]
    heads = [
        "Model" if of == "model" else "Area",
        "Helpful shown",
        "Harmful avoided",
        "Behaviours",
        "Checked?",
    ]
    return table(
        heads, rows, caption="How often helpful behaviour was shown and harmful behaviour was avoided"
    )


def _both(one: PlaceRate) -> tuple[tuple[Polarity, Estimate], ...]:
    return (Polarity.POSITIVE, one.positive), (Polarity.NEGATIVE, one.negative)


def _name(one: PlaceRate, of: By, names: Mapping[str, str]) -> str:
    return names[one.model] if of == "model" else one.place


def _states(checked: Checks, place: str) -> str:
    """The state of both kinds, said once where they are alike."""
    marks = {
        kind: evidence_mark(found)
        for kind, polarity in (("helpful", Polarity.POSITIVE), ("harmful", Polarity.NEGATIVE))
        if (found := checked.get((place, polarity))) is not None
    }
    said = {kind: mark.short for kind, mark in marks.items()}
    if len(set(said.values())) <= 1:
        return next(iter(said.values()), "nothing to check")
    return "; ".join(f"{kind}: {words}" for kind, words in said.items())
