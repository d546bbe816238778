"""What a reader may choose on the page for exploring."""

from dataclasses import dataclass

from app.public.choices import Choices
from impactbench.domain import AgeVariant, Polarity
from reviews.public.explore import Filters, Weights, members
from reviews.public.results import PublicResults
from validation.contested import Status

_ANY = "any"
_KINDS = {Polarity.POSITIVE.value: "Helpful shown", Polarity.NEGATIVE.value: "Harmful avoided"}
_AGES = {_ANY: "All", AgeVariant.TEEN.value: "Teens", AgeVariant.ADULT.value: "Adults"}
_WEIGHTS = {"conversation": "Every conversation", "benchmark": "Every source", "own": "My own"}
_MOST, _STEP = 3.0, 0.5


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


def choose_scope(results: PublicResults, choices: Choices) -> Scope:
    """The area and the filters."""
    age = choices.switch("Person", _AGES, name="age")
    area = _one(choices, "Area", list(members(results, "area")), name="area")
    subareas = list(dict.fromkeys(results.places.loc[results.places["area"] == area, "subarea"]))
    subarea = _one(choices, "Part of it", subareas, name="part") if area else None
    seen = {one.checked.status for one in results.metrics.values()}
    with choices.behind("More filters"):
        family = _one(choices, "Model family", sorted(set(results.models["family"]) - {""}), name="family")
        source = _one(choices, "Source", list(results.tally.benchmarks), name="source")
        states = [one.value for one in Status if one in seen]
        state = _one(choices, "State of the evidence", states, name="state")
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


def choose_kind(choices: Choices) -> Polarity:
    """The kind of behaviour: helpful and harmful ones are never put into one order."""
    return Polarity(choices.switch("Kind of behaviour", _KINDS, name="kind"))


def choose_weights(results: PublicResults, choices: Choices) -> tuple[str, Weights]:
    """What counts alike, or a weight for each area."""
    chosen = choices.switch("What counts alike", _WEIGHTS, name="weights")
    if chosen == "conversation":
        return chosen, "conversation"
    if chosen == "benchmark":
        return chosen, "benchmark"
    areas = list(members(results, "area"))
    return chosen, {
        area: choices.number(f"Weight of {area}", name=f"w-{area}", default=1.0, most=_MOST, step=_STEP)
        for area in areas
    }


def _one(choices: Choices, label: str, options: list[str], *, name: str) -> str | None:
    """One of the options, or any of them."""
    if len(options) < 2:
        return None
    shown = {_ANY: "Any", **{word: word.replace("_", " ") for word in options}}
    chosen = choices.one(label, shown, name=name)
    return None if chosen == _ANY else chosen
