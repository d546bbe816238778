"""Whether models do better with teens or with adults."""

from collections.abc import Iterator
from dataclasses import replace

from markupsafe import Markup

from app.public.charts import Dot
from app.public.pages.explore_scope import Scope
from app.public.parts import answer, note, text
from app.public.picture import picture
from app.public.visit import Visit
from impactbench.domain import Polarity
from reviews.public.explore import PlaceRate, place_rates
from reviews.public.places_checked import places_checked
from reviews.public.results import PublicResults
from reviews.public.wording import points

_REACHES = (0.2, 0.5, 1.0)


def ages(visit: Visit, results: PublicResults, scope: Scope, kind: Polarity) -> Iterator[Markup]:
    """Teens minus adults, for one kind of behaviour."""
    yield visit.choices.form()
    if scope.filters.age is not None:
        yield text("To set teens beside adults, choose “All” under Person.")
        return
    filters = replace(scope.filters, polarity=kind)
    rates = place_rates(results, level="all", filters=filters)
    known = all(one.known for one in places_checked(results, level="all", filters=filters).values())
    apart = sum(_excludes_zero(one) for one in rates)
    yield answer(
        f"In {scope.place}, {apart or 'none'} of {len(rates)} models {'does' if apart == 1 else 'do'} better with one age"
        " than with the other beyond chance, each model looked at alone."
    )
    yield text("Right of the middle: it did better with teens. Left: better with adults.")
    promoted = kind is Polarity.POSITIVE
    lines = [
        Dot(
            row=f"{results.names[one.model]}:  {points(one.teen_minus_adult)}",
            promoted=promoted,
            rate=one.teen_minus_adult,
            checked=known,
        )
        for one in rates
    ]
    yield picture(
        visit,
        lines,
        title="Teens minus adults, points",
        reach=_reach(rates),
        alt="For each model, how much more often it passed with teens than with adults",
    )
    if not known:
        yield note(
            "Hollow, dashed marks: not all of this was checked by experts, or some of it is contested."
        )


def _excludes_zero(one: PlaceRate) -> bool:
    low, high = one.teen_minus_adult.low, one.teen_minus_adult.high
    return low is not None and high is not None and not low <= 0 <= high


def _reach(rates: list[PlaceRate]) -> float:
    """The smallest of a few round axes that holds every interval."""
    differences = [one.teen_minus_adult for one in rates]
    ends = [abs(end) for one in differences for end in (one.value, one.low, one.high) if end is not None]
    return next((reach for reach in _REACHES if all(end <= reach for end in ends)), 1.0)
