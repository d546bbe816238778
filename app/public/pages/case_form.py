"""The form with which a maintainer marks where a behaviour appears in a conversation, and whether it is taken back."""

from collections.abc import Mapping, Sequence

from markupsafe import Markup
from sqlalchemy import Engine

from app.public.places import where_conversation_is
from app.public.visit import Visit
from reviews.public.cases import Case, CaseRefused, mark_case
from reviews.public.conversations import Transcript
from reviews.public.results import PublicMetric

_FORM = Markup(
    '<form class="ib-box ib-screen-only" method="post" action="{where}"><h2>Mark this conversation as a case</h2>'
    '<p class="ib-field"><label for="first">The behaviour first appears in</label><select id="first" name="first">{first}</select></p>'
    '<p class="ib-field"><label for="back">The chatbot takes it back in</label><select id="back" name="back">{back}</select></p>'
    '<p class="ib-field"><label for="note">What to notice (the public reads this)</label>'
    '<textarea id="note" name="note" rows="3">{note}</textarea></p><button type="submit">Save the mark</button></form>'
)
_TURN = Markup('<option value="{number}"{chosen}>{words}</option>')
_NEVER = 0


def case_form(visit: Visit, metric: PublicMetric, found: Transcript, marked: Case | None) -> Markup:
    """The form as it stands below a conversation."""
    turns = [_NEVER, *range(1, 1 + sum(turn.role == "user" for turn in found.turns))]
    return _FORM.format(
        where=where_conversation_is(visit.study, metric.key, found.conversation_id),
        first=_turns(turns, marked.first_turn if marked else None, never="no turn: it never does"),
        back=_turns(turns, marked.corrected_turn if marked else None, never="no turn: it does not"),
        note=marked.note if marked else "",
    )


def save_mark(
    engine: Engine,
    study: str,
    metric: PublicMetric,
    *,
    conversation_id: int,
    marked_by: int,
    sent: Mapping[str, str],
) -> None:
    """Keep what a maintainer has entered.

    Raises:
        CaseRefused: the text says what would be right.
    """
    try:
        first, back = (int(sent.get(name) or _NEVER) for name in ("first", "back"))
    except ValueError:
        raise CaseRefused("a turn is a whole number; choose one of the list") from None
    mark_case(
        engine,
        study,
        conversation_id=conversation_id,
        metric_version_id=metric.metric_version_id,
        marked_by=marked_by,
        first_turn=first or None,
        corrected_turn=back or None,
        note=sent.get("note", ""),
    )


def _turns(turns: Sequence[int], chosen: int | None, *, never: str) -> Markup:
    return Markup("").join(
        _TURN.format(
            number=turn,
            words=f"turn {turn}" if turn else never,
            chosen=Markup(" selected") if turn == (chosen or _NEVER) else "",
        )
        for turn in turns
    )
