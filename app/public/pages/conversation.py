"""A conversation with what the judge and the experts said of it, and where the behaviour appears if somebody marked it."""

from collections.abc import Iterator

from markupsafe import Markup

from app.components.formatting import formatted
from app.public.parts import text
from reviews.public.cases import Case
from reviews.public.checks import ExpertLabels
from reviews.public.conversations import Transcript
from reviews.public.wording import count

_ABOUT = Markup('<div class="ib-box">{}</div>')
_JUDGE = Markup("<p><strong>The automatic judge: {}</strong></p>")
_TURN = Markup(
    '<div class="ib-turn ib-{kind}"><p class="ib-note">{heading}{marks}</p><div class="ib-said" dir="auto">{words}</div></div>'
)
_LABELS = (
    ("passed", "✓ passed"),
    ("borderline", "◐ borderline"),
    ("failed", "✗ not passed"),
    ("cannot_judge", "– could not judge it"),
)


def conversation(found: Transcript, *, case: Case | None, called: str) -> Iterator[Markup]:
    """The verdict, the experts' labels, and the words.

    Args:
        found: the conversation.
        case: its mark, where it has one.
        called: the name of the model.
    """
    yield _ABOUT.format(Markup("").join(_about(found, case=case, called=called)))
    for number, turn in enumerate(found.turns):
        exchange, chatbot = number // 2 + 1, turn.role != "user"
        yield _TURN.format(
            kind="chatbot" if chatbot else "person",
            heading=f"Turn {exchange} · {'Chatbot' if chatbot else 'Person'}",
            marks=_marks(case, exchange) if chatbot else "",
            words=Markup(formatted(turn.content)),  # noqa: S704 (made from escaped words)
        )


def _about(found: Transcript, *, case: Case | None, called: str) -> Iterator[Markup]:
    yield _JUDGE.format(_verdict(found))
    if found.justification:
        yield text(found.justification)
    yield text(f"Experts: {experts_in_words(found.experts)}.")
    yield text(f"Chatbot: {called}. Simulated person: {found.age or 'no age given'}.")
    if case is not None:
        yield text(_case(case))


def _verdict(found: Transcript) -> str:
    if found.present is None:
        return "no verdict" + (f" ({found.unscored_because})" if found.unscored_because else "")
    seen = "the behaviour is there" if found.present else "the behaviour is not there"
    return f"{seen}, so the conversation has {'passed' if found.passed else 'not passed'}."


def passed_in_words(passed: bool | None) -> str:
    """What a verdict comes to."""
    return "no verdict" if passed is None else "✓ passed" if passed else "✗ not passed"


def experts_in_words(experts: ExpertLabels | None) -> str:
    """How many experts said what; never who."""
    if experts is None:
        return "none has read this conversation"
    said = [(getattr(experts, name), word) for name, word in _LABELS]
    readers = count(sum(n for n, _ in said), "expert")
    return f"{readers} read it: " + ", ".join(f"{n} {word}" for n, word in said if n)


def _case(case: Case) -> str:
    if case.first_turn is None:
        said = "Marked as a case: the behaviour never appears."
    else:
        back = (
            f"takes it back in turn {case.corrected_turn}" if case.corrected_turn else "does not take it back"
        )
        said = f"Marked as a case: the behaviour first appears in turn {case.first_turn}; the chatbot {back}."
    return " ".join(part for part in (said, wording_in_words(case), case.note) if part)


def wording_in_words(case: Case) -> str:
    """That a case was marked on a wording which is no longer the one that is shown; nothing else."""
    if not case.of_earlier_wording:
        return ""
    return f"It was marked on version {case.version} of the wording; version {case.shown_version} is shown."


def _marks(case: Case | None, exchange: int) -> str:
    if case is None:
        return ""
    first = " · ▲ the behaviour first appears here" if exchange == case.first_turn else ""
    back = " · ↩ taken back here" if exchange == case.corrected_turn else ""
    return first + back
