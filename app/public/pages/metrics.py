"""Every metric of a study: a list to search, and a page for each."""

from collections.abc import Iterator

from markupsafe import Markup

from app.public.pages import metric as metric_page
from app.public.pages.scenario import scenario_in_view
from app.public.parts import Sheet, answer, text, warning
from app.public.places import where_metric_is
from app.public.tables import Cell, table
from app.public.visit import Visit
from impactbench.domain import Polarity
from reviews.public.evidence_marks import evidence_mark
from reviews.public.releasing import PublicStudy
from reviews.public.results import PublicMetric
from reviews.public.wording import count
from validation.contested import Status

_ANY = "any"
_KINDS = {_ANY: "All", Polarity.POSITIVE.value: "Helpful", Polarity.NEGATIVE.value: "Harmful"}


def metrics(visit: Visit) -> Sheet:
    """The metric that the address names, else the list."""
    known, asked = visit.results.by_word, visit.asked.get("metric")
    metric = known.get(asked or "")
    if metric is None:
        return Sheet("Metrics", _parts(visit, list(known.values()), unknown=asked is not None))
    found = scenario_in_view(visit, metric) if "scenario" in visit.asked else None
    return found or Sheet(metric.name, metric_page.show(visit, metric))


def _parts(visit: Visit, known: list[PublicMetric], *, unknown: bool) -> Iterator[Markup]:
    if not known:
        yield visit.choices.form()
        yield text("Nothing of this study has been judged yet, so it has no metrics to show.")
        return
    choices = visit.choices
    words = choices.search("Search", name="q", hint="For example: privacy, flattery, homework")
    kind = choices.switch("Kind of behaviour", _KINDS, name="kind")
    seen = {one.checked.status for one in known}
    states = [_ANY, *(status.value for status in Status if status in seen)]
    state = choices.one("State of the evidence", {one: _state(one) for one in states}, name="state")
    yield choices.form()
    if unknown:
        yield warning("This study has no metric of that name. Here are all that it has.")
    yield _in_a_sentence(known)
    found = [one for one in known if _fits(one, words, kind, state)]
    yield from _table(visit.study, found)


def _in_a_sentence(known: list[PublicMetric]) -> Markup:
    checked = sum(one.checked.n_experts > 0 for one in known)
    contested = sum(one.checked.status is Status.CONTESTED for one in known)
    are = "is" if contested == 1 else "are"
    return answer(
        f"{count(len(known), 'behaviour')} {'was' if len(known) == 1 else 'were'} looked for. Experts have checked the"
        f" automatic judge on {checked or 'none'} of them so far"
        f"{f'; {contested} {are} contested' if contested else ''}."
    )


def _state(state: str) -> str:
    return "Any" if state == _ANY else str(state).replace("_", " ").capitalize()


def _fits(one: PublicMetric, words: str, kind: str, state: str) -> bool:
    text = " ".join((one.name, one.definition, one.benchmark_name, *one.subareas)).casefold()
    return (
        all(word in text for word in words.casefold().split())
        and kind in (_ANY, one.polarity)
        and state in (_ANY, one.checked.status)
    )


def _table(study: PublicStudy, found: list[PublicMetric]) -> Iterator[Markup]:
    if not found:
        yield text("No behaviour fits. Try fewer words, or another spelling.")
        return
    yield text(f"{count(len(found), 'behaviour')} found.")
    rows = [
        [
            Cell(text=one.name, where=where_metric_is(study, one.key), long=True),
            "helpful" if one.polarity == Polarity.POSITIVE else "harmful",
            ", ".join(one.subareas),
            one.benchmark_name,
            Cell(text=evidence_mark(one.checked).short, long=True),
        ]
        for one in found
    ]
    yield table(
        ["Behaviour", "Kind", "Area", "Source", "Checked?"],
        rows,
        caption="The behaviours that were looked for",
    )
