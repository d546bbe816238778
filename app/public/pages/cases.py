"""Case studies: conversations in which somebody has marked where a behaviour appears and whether it is taken back."""

from collections.abc import Iterator

from markupsafe import Markup

from app.public import data
from app.public.pages.conversation import wording_in_words
from app.public.parts import Sheet, answer, link, text
from app.public.places import where_conversation_is, where_metric_is, where_metrics_are
from app.public.tables import Cell, table
from app.public.visit import Visit
from reviews.public.cases import Case
from reviews.public.releasing import PublicStudy
from reviews.public.results import PublicResults
from reviews.public.wording import count


def case_studies(visit: Visit) -> Sheet:
    """Every marked conversation, each a link to its words."""
    return Sheet("Case studies", _parts(visit))


def _parts(visit: Visit) -> Iterator[Markup]:
    yield visit.choices.form()
    study = visit.study
    if study.under_review:
        yield text(
            "Experts are at work on this study. Until their results are reported, no conversation is shown."
        )
        return
    if not study.transcripts:
        yield text("The conversations of this study are not public, so none can be shown as a case.")
        return
    found = data.marked(visit)
    if found:
        yield from _list(study, visit.results, found)
    else:
        yield text("No conversation of this study has been marked as a case yet.")
    if visit.maintains:
        where = link("Metrics", where_metrics_are(study))
        yield text(
            Markup("To mark one, open a conversation under {}: the form stands below its words.").format(
                where
            )
        )


def _list(study: PublicStudy, results: PublicResults, found: list[Case]) -> Iterator[Markup]:
    there = [case for case in found if case.first_turn is not None]
    back = sum(case.corrected for case in there)
    yield answer(
        f"{count(len(found), 'conversation')} {'was' if len(found) == 1 else 'were'} marked. In {len(there)} the behaviour"
        f" appears; in {back} of these the chatbot takes it back.",
        "They were picked to be read, not drawn by chance: they show how it happens, not how often.",
    )
    yield table(
        ["Behaviour", "Model", "Person", "First appears", "Taken back", "What to notice", "Conversation"],
        [_row(study, results, case) for case in found],
        caption="The marked conversations",
    )


def _row(study: PublicStudy, results: PublicResults, case: Case) -> list[Cell | str]:
    metric = results.metrics[case.benchmark, case.metric]
    return [
        Cell(text=metric.name, where=where_metric_is(study, metric.key), long=True),
        Cell(text=results.names.get(case.model, case.model), whole=True),
        case.age,
        Cell(text=f"turn {case.first_turn}" if case.first_turn else "never", whole=True),
        Cell(text=taken_back(case), whole=True),
        Cell(text=" ".join(filter(None, (case.note, wording_in_words(case)))), long=True),
        Cell(
            text="Read it", where=where_conversation_is(study, metric.key, case.conversation_id), whole=True
        ),
    ]


def taken_back(case: Case) -> str:
    """Whether the chatbot takes the behaviour back."""
    if case.first_turn is None:
        return "–"
    return f"turn {case.corrected_turn}" if case.corrected_turn else "no"
