"""Models side by side: over everything, or in one area; with the ranks that the data leave open instead of a winner."""

import streamlit as st

from app import public_data
from app.components.permalinks import choose, switch
from app.components.plain_text import answer
from app.components.public_tables import Cell, table
from app.views.public.choices import Scope, choose_kind, choose_scope, choose_weights
from app.views.public.explore_ages import ages
from app.views.public.explore_order import corrected_order, order
from app.views.public.explore_rates import hollow, lines_of, rates_table
from app.views.public.in_view import study_in_view
from app.views.public.picture import picture
from app.views.public.places import where_metric_is
from impactbench.domain import Polarity
from reviews.public.evidence_marks import evidence_mark
from reviews.public.explore import Level, PlaceRate, chosen_metrics, place_rates
from reviews.public.places_checked import places_checked
from reviews.public.releasing import PublicStudy
from reviews.public.results import PublicResults
from reviews.public.wording import count

_VIEWS = {
    "models": "Models in order",
    "both": "Helpful and harmful",
    "areas": "Areas of one model",
    "ages": "Teens and adults",
}
_CORRECTED = "corrected"


def explore() -> None:
    """One question at a time, about what the reader has chosen."""
    study = study_in_view("Explore")
    results = public_data.results(study)
    if not results.tally.metrics:
        st.write("Nothing of this study has been judged yet, so there is nothing to compare.")
        return
    corrected = {_CORRECTED: "As experts would say"} if results.checks.corrected else {}
    view = switch("Question", {**_VIEWS, **corrected}, name="view")
    if view == _CORRECTED:
        corrected_order(results, choose_kind())
        return
    scope = choose_scope(results)
    if not chosen_metrics(results, scope.filters).any():
        st.write("No behaviour is left by these choices. Take one of the filters back.")
        return
    match view:
        case "models":
            kind = choose_kind()
            order(results, scope, kind, choose_weights(results))
        case "both":
            _both(results, scope)
        case "areas":
            _areas(study, results, scope)
        case _:
            ages(results, scope, choose_kind())


def _both(results: PublicResults, scope: Scope) -> None:
    rates = place_rates(results, level="all", filters=scope.filters)
    checked = places_checked(results, level="all", filters=scope.filters)
    answer(
        f"In {scope.place}, {_more_helpful(rates)} of {count(len(rates), 'model')} show helpful behaviour more often than"
        " they avoid harmful behaviour, beyond what chance would explain."
    )
    st.text("● how often helpful behaviour was shown   ■ how often harmful behaviour was avoided")
    picture(
        lines_of(rates, checked, of="model", names=results.names),
        title="Share of conversations",
        alt="For each model, the share of conversations with helpful behaviour and without harmful behaviour",
    )
    hollow(checked)
    rates_table(rates, checked, of="model", names=results.names)


def _more_helpful(rates: list[PlaceRate]) -> int:
    """How many models have the interval of what they show above that of what they avoid."""
    ends = [(one.positive.low, one.negative.high) for one in rates]
    return sum(low is not None and high is not None and low > high for low, high in ends)


def _areas(study: PublicStudy, results: PublicResults, scope: Scope) -> None:
    model = choose("Model", list(results.tally.models), name="model", shown=results.names.__getitem__)
    called = results.names[model]
    level: Level = "subarea" if scope.area else "area"
    if scope.subarea:
        _metrics(study, results, scope, model)
        return
    rates = [
        one
        for one in place_rates(results, level=level, filters=scope.filters)
        if one.model == model and (not scope.area or one.place in scope.parts)
    ]
    checked = places_checked(results, level=level, filters=scope.filters)
    answer(
        f"How {called} did in {scope.place}, by {'part' if scope.area else 'area'}.",
        "Choose an area above to open it.",
    )
    st.text("● how often helpful behaviour was shown   ■ how often harmful behaviour was avoided")
    picture(
        lines_of(rates, checked, of="place", names=results.names),
        title="Share of conversations",
        alt=f"For each area, how often {called} showed helpful behaviour and avoided harmful behaviour",
    )
    hollow(checked)
    rates_table(rates, checked, of="place", names=results.names)


def _metrics(study: PublicStudy, results: PublicResults, scope: Scope, model: str) -> None:
    """The end of the way down: single behaviours, too few conversations each for a rate."""
    counts = public_data.metric_counts(study)
    kept = chosen_metrics(results, scope.filters)
    keys = [key for key, chosen in zip(results.tally.metrics, kept, strict=True) if chosen]
    of_model = counts[counts["model"] == model].set_index(["benchmark", "metric"])
    answer(
        f"{count(len(keys), 'behaviour')} in {scope.place}: in how many conversations {results.names[model]} passed."
    )
    rows = []
    for key in keys:
        metric, row = results.metrics[key], of_model.loc[key]
        mark = evidence_mark(metric.checked)
        rows.append(
            [
                Cell(text=metric.name, where=where_metric_is(study, key), long=True),
                "helpful" if metric.polarity == Polarity.POSITIVE else "harmful",
                Cell(text=f"{row['both_passed']} of {row['both_scored']}", whole=True),
                Cell(text=f"{mark.shape} {mark.word}", long=True),
            ]
        )
    st.html(
        table(
            ["Behaviour", "Kind", "Passed", "Checked?"],
            rows,
            caption="Behaviours and how often the model passed",
        )
    )
