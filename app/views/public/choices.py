"""What a reader may choose on the page for exploring; every choice is in the address."""

from dataclasses import dataclass

import streamlit as st

from app.components.permalinks import choose, switch
from impactbench.domain import AgeVariant, Polarity
from reviews.public.explore import Filters, Weights, members
from reviews.public.results import PublicResults
from validation.contested import Status

_ANY = "any"
_KINDS = {Polarity.POSITIVE.value: "Helpful shown", Polarity.NEGATIVE.value: "Harmful avoided"}
_AGES = {_ANY: "All", AgeVariant.TEEN.value: "Teens", AgeVariant.ADULT.value: "Adults"}
_WEIGHTS = {"conversation": "Every conversation", "benchmark": "Every source", "own": "My own"}
_FURTHER = ("family", "source", "state")
_MOST = 3.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """What the reader looks at: everything but the kind of behaviour."""

    area: str | None
    subarea: str | None
    parts: frozenset[str]
    """The subareas of the area."""
    filters: Filters

    @property
    def place(self) -> str:
        return self.subarea or self.area or "all areas"


def choose_scope(results: PublicResults) -> Scope:
    """The area and the filters."""
    areas = list(members(results, "area"))
    first, second, third = st.columns(3)
    with first:
        age = switch("Person", _AGES, name="age")
    with second:
        area = _one("Area", areas, name="area")
    subareas = list(dict.fromkeys(results.places.loc[results.places["area"] == area, "subarea"]))
    with third:
        subarea = _one("Part of it", subareas, name="part") if area else None
    family, source, state = _further(results)
    return Scope(
        area=area,
        subarea=subarea,
        parts=frozenset(subareas),
        filters=Filters(
            age=None if age == _ANY else AgeVariant(age),
            families=frozenset([family] if family else []),
            benchmarks=frozenset([source] if source else []),
            areas=frozenset([area] if area and not subarea else []),
            subareas=frozenset([subarea] if subarea else []),
            statuses=frozenset([Status(state)] if state else []),
        ),
    )


def _further(results: PublicResults) -> tuple[str | None, str | None, str | None]:
    """Model family, source and state of the evidence, where somebody wants to choose them.

    Switched off they stay out of the page: a browser has less to draw before a reader can begin.
    """
    asked = any(st.query_params.get(name, _ANY) != _ANY for name in _FURTHER)
    if not st.toggle("More filters", value=asked, key="more-filters"):
        for name in _FURTHER:
            st.query_params.pop(name, None)
        return None, None, None
    seen = {one.checked.status for one in results.metrics.values()}
    options = (
        ("Model family", sorted(set(results.models["family"]) - {""})),
        ("Source", list(results.tally.benchmarks)),
        ("State of the evidence", [one.value for one in Status if one in seen]),
    )
    chosen = []
    for place, name, (label, several) in zip(st.columns(3), _FURTHER, options, strict=True):
        with place:
            chosen.append(_one(label, several, name=name))
    return chosen[0], chosen[1], chosen[2]


def choose_kind() -> Polarity:
    """The kind of behaviour: helpful and harmful ones are never put into one order."""
    return Polarity(switch("Kind of behaviour", _KINDS, name="kind"))


def choose_weights(results: PublicResults) -> tuple[str, Weights]:
    """What counts alike, or a weight for each area."""
    chosen = switch("What counts alike", _WEIGHTS, name="weights")
    if chosen == "conversation":
        return chosen, "conversation"
    if chosen == "benchmark":
        return chosen, "benchmark"
    own: dict[str, float] = {}
    areas = list(members(results, "area"))
    for place, area in zip(st.columns(max(len(areas), 1)), areas, strict=False):
        name = f"w-{area}"
        with place:
            own[area] = st.slider(area, 0.0, _MOST, _kept(name), 0.5, key=f"own-{area}")
        st.query_params[name] = f"{own[area]:g}"
    if not any(own.values()):
        st.text("With no weight at all there is no order. Every area counts alike until one has a weight.")
        return chosen, dict.fromkeys(areas, 1.0)
    return chosen, own


def _kept(name: str) -> float:
    try:
        return min(max(float(st.query_params.get(name, "1")), 0.0), _MOST)
    except ValueError:
        return 1.0


def _one(label: str, options: list[str], *, name: str) -> str | None:
    """One of the options, or any of them."""
    if len(options) < 2:
        return None
    chosen = choose(label, [_ANY, *options], name=name, shown=lambda word: _spelled(word))
    return None if chosen == _ANY else chosen


def _spelled(word: str) -> str:
    return "Any" if word == _ANY else word.replace("_", " ")
