"""One scenario of a behaviour: what the judge and experts said of each model, and the conversations below one another."""

from collections.abc import Iterator, Sequence

from markupsafe import Markup

from app.public import data
from app.public.pages.conversation import conversation, experts_in_words, passed_in_words
from app.public.parts import Sheet, answer, heading, link, text
from app.public.places import where_metric_is
from app.public.tables import Cell, table
from app.public.visit import Visit
from reviews.public.cases import Case
from reviews.public.conversations import PublicVerdict, Transcript, transcripts_of
from reviews.public.results import PublicMetric

_CONVERSATION = Markup(
    '<details{opened}><summary>{model}: the conversation{case}</summary><div id="conversation-{number}">{parts}</div></details>'
)


def scenario_in_view(visit: Visit, metric: PublicMetric) -> Sheet | None:
    """The page of the scenario that the address names; None where the metric has no verdicts on it."""
    slug = visit.asked["scenario"]
    verdicts = [one for one in data.verdicts(visit, metric) if one.scenario == slug]
    if not verdicts:
        return None
    with_words = visit.study.transcripts and any(one.has_words for one in verdicts)
    spoken = transcripts_of(visit.engine, visit.results, metric, named=slug) if with_words else []
    known = {one.conversation_id for one in verdicts}
    told = [one for one in spoken if one.conversation_id in known and (one.turns or one.justification)]
    return Sheet(f"{metric.name}: {slug}", _parts(visit, metric, verdicts, told))


def _parts(
    visit: Visit, metric: PublicMetric, verdicts: Sequence[PublicVerdict], spoken: Sequence[Transcript]
) -> Iterator[Markup]:
    first = verdicts[0]
    visit.choices.keep("metric", metric.word)
    visit.choices.keep("scenario", first.scenario)
    yield visit.choices.form()
    yield text(link("About this behaviour", where_metric_is(visit.study, metric.key)))
    passed = [one.passed for one in verdicts if one.passed is not None]
    why = "" if spoken else " The conversations are not public, or came without their words."
    yield answer(f"{sum(passed)} of {len(passed)} conversations passed.", why.strip())
    if first.user_goal:
        yield heading("What the person wants")
        yield text(first.user_goal)
    if first.age:
        yield text(f"Simulated person: {first.age}.")
    yield heading("Verdicts")
    yield table(
        ["Model", "Automatic judge", "Experts"],
        [_row(visit, metric, one) for one in verdicts],
        caption="What the automatic judge said of each model’s conversation, and how many experts said what",
    )
    marked = data.cases_of(visit, metric)
    names = visit.results.names
    for one in spoken:
        yield _spoken(one, case=marked.get(one.conversation_id), called=names[one.model])


def _row(visit: Visit, metric: PublicMetric, one: PublicVerdict) -> list[Cell | str]:
    labels = visit.results.checks.labels.get((one.conversation_id, metric.metric_version_id))
    return [
        Cell(text=visit.results.names[one.model], whole=True),
        Cell(text=passed_in_words(one.passed), whole=True),
        Cell(text=experts_in_words(labels), long=True),
    ]


def _spoken(one: Transcript, *, case: Case | None, called: str) -> Markup:
    return _CONVERSATION.format(
        model=called,
        number=one.conversation_id,
        opened=Markup(" open") if case else "",
        case=" (a case study)" if case else "",
        parts=Markup("").join(conversation(one, case=case, called=called)),
    )
