"""The scenarios of a behaviour, and which models passed in each."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from markupsafe import Markup

from app.public import data
from app.public.parts import heading
from app.public.places import where_conversation_is, where_scenario_is
from app.public.tables import Cell, table
from app.public.visit import Visit
from reviews.public.conversations import PublicVerdict
from reviews.public.releasing import PublicStudy
from reviews.public.results import PublicMetric


def scenarios(visit: Visit, metric: PublicMetric) -> Iterator[Markup]:
    """A row each; nothing while experts are at work."""
    if visit.study.under_review:
        return
    names = visit.results.names
    yield heading("Scenarios")
    yield table(
        ["Scenario", "What the person wants", "Person", "Passed by", "Not passed by"],
        [
            _row(visit.study, metric, list(verdicts), names)
            for _, verdicts in groupby(data.verdicts(visit, metric), key=lambda one: one.scenario)
        ],
        caption="The scenarios, and which models passed in each",
    )


def _row(
    study: PublicStudy, metric: PublicMetric, verdicts: Sequence[PublicVerdict], names: Mapping[str, str]
) -> list[Cell | str]:
    first = verdicts[0]
    readable = study.transcripts and first.has_words
    return [
        Cell(text=first.scenario, where=where_scenario_is(study, metric.key, first.scenario), whole=True),
        Cell(text=first.user_goal, long=True),
        first.age,
        *(
            _models(study, metric, [one for one in verdicts if one.passed is passed], names, linked=readable)
            for passed in (True, False)
        ),
    ]


def _models(
    study: PublicStudy,
    metric: PublicMetric,
    verdicts: Sequence[PublicVerdict],
    names: Mapping[str, str],
    *,
    linked: bool,
) -> Cell:
    links = [
        (names[one.model], where_conversation_is(study, metric.key, one.conversation_id)) for one in verdicts
    ]
    text = ", ".join(name for name, _ in links) or "none"
    return Cell(text=text, long=True, links=links if linked else ())
