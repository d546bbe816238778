"""Models side by side: over everything, or in one area; with the ranks that the data leave open instead of a winner."""

from collections.abc import Iterator

from markupsafe import Markup

from app.public.pages.explore_ages import ages
from app.public.pages.explore_order import corrected_order, order
from app.public.pages.explore_rates import hollow, lines_of, rates_table
from app.public.pages.explore_scope import Scope, choose_kind, choose_scope, choose_weights
from app.public.parts import Sheet, answer, text
from app.public.picture import picture
from app.public.places import where_explored, where_label_is, where_metric_is
from app.public.tables import Cell, table
from app.public.visit import Visit
from impactbench.domain import Polarity
from reviews.public.evidence_marks import evidence_mark
from reviews.public.explore import Level, PlaceRate, chosen_metrics, place_rates
from reviews.public.places_checked import places_checked
from reviews.public.results import PublicResults
from reviews.public.wording import count

VIEWS = {
    "models": "Models in order",
    "both": "Helpful and harmful",
    "areas": "Areas of one model",
    "ages": "Teens and adults",
}
_CORRECTED = "corrected"
_MARKS = "● how often helpful behaviour was shown   ■ how often harmful behaviour was avoided"


def explore(visit: Visit) -> Sheet:
    """One question at a time, about what the reader has chosen."""
    return Sheet("Explore", _parts(visit))


def _parts(visit: Visit) -> Iterator[Markup]:
    results, choices = visit.results, visit.choices
    if not results.tally.metrics:
        yield choices.form()
        yield text("Nothing of this study has been judged yet, so there is nothing to compare.")
        return
    corrected = {_CORRECTED: "As experts would say"} if results.checks.corrected else {}
    view = choices.switch("Question", {**VIEWS, **corrected}, name="view")
    if view == _CORRECTED:
        yield from corrected_order(visit, results, choose_kind(choices))
        return
    scope = choose_scope(results, choices)
    if not chosen_metrics(results, scope.filters).any():
        yield choices.form()
        yield text("No behaviour is left by these choices. Take one of the filters back.")
        return
    match view:
        case "models":
            kind = choose_kind(choices)
            yield from order(visit, results, scope, kind, choose_weights(results, choices))
        case "both":
            yield from _both(visit, results, scope)
        case "areas":
            yield from _areas(visit, results, scope)
        case _:
            yield from ages(visit, results, scope, choose_kind(choices))


def _both(visit: Visit, results: PublicResults, scope: Scope) -> Iterator[Markup]:
    yield visit.choices.form()
    rates = place_rates(results, level="all", filters=scope.filters)
    checked = places_checked(results, level="all", filters=scope.filters)
    yield answer(
        f"In {scope.place}, {_more_helpful(rates) or 'none'} of {count(len(rates), 'model')} show helpful behaviour more often than"
        " they avoid harmful behaviour, beyond what chance would explain."
    )
    yield text(_MARKS)
    yield picture(
        visit,
        lines_of(rates, checked, of="model", names=results.names),
        title="Share of conversations",
        alt="For each model, the share of conversations with helpful behaviour and without harmful behaviour",
    )
    yield hollow(checked)
    yield rates_table(
        rates,
        checked,
        of="model",
        names=results.names,
        where=lambda one: where_label_is(visit.study, one.model),
    )


def _more_helpful(rates: list[PlaceRate]) -> int:
    """How many models have the interval of what they show above that of what they avoid."""
    ends = [(one.positive.low, one.negative.high) for one in rates]
    return sum(low is not None and high is not None and low > high for low, high in ends)


def _areas(visit: Visit, results: PublicResults, scope: Scope) -> Iterator[Markup]:
    names = {model: results.names[model] for model in results.tally.models}
    model = visit.choices.one("Model", names, name="model")
    yield visit.choices.form()
    if scope.subarea:
        yield from _metrics(visit, results, scope, model)
        return
    level: Level = "subarea" if scope.area else "area"
    rates = [
        one
        for one in place_rates(results, level=level, filters=scope.filters)
        if one.model == model and (not scope.area or one.place in scope.parts)
    ]
    checked = places_checked(results, level=level, filters=scope.filters)
    yield answer(
        f"How {names[model]} did in {scope.place}, by {'part' if scope.area else 'area'}.",
        "Each leads to what it consists of.",
    )
    yield text(_MARKS)
    yield picture(
        visit,
        lines_of(rates, checked, of="place", names=results.names),
        title="Share of conversations",
        alt=f"For each area, how often {names[model]} showed helpful behaviour and avoided harmful behaviour",
    )
    yield hollow(checked)
    inside = "part" if scope.area else "area"
    yield rates_table(
        rates,
        checked,
        of="place",
        names=results.names,
        where=lambda one: where_explored({**visit.asked, "study": visit.study.slug, inside: one.place}),
    )


def _metrics(visit: Visit, results: PublicResults, scope: Scope, model: str) -> Iterator[Markup]:
    """The end of the way down: single behaviours, too few conversations each for a rate."""
    tally, column = results.tally, results.tally.models.index(model)
    kept = chosen_metrics(results, scope.filters)
    chosen = [(m, results.metrics[key]) for m, key in enumerate(tally.metrics) if kept[m]]
    yield answer(
        f"{count(len(chosen), 'behaviour')} in {scope.place}: in how many conversations {results.names[model]} passed."
    )
    rows = [
        [
            Cell(text=metric.name, where=where_metric_is(visit.study, metric.key), long=True),
            "helpful" if metric.polarity == Polarity.POSITIVE else "harmful",
            Cell(text=f"{tally.passed[m, column]} of {tally.scored[m, column]}", whole=True),
            Cell(text=evidence_mark(metric.checked).short, long=True),
        ]
        for m, metric in chosen
    ]
    yield table(
        ["Behaviour", "Kind", "Passed", "Checked?"], rows, caption="Behaviours and how often the model passed"
    )
