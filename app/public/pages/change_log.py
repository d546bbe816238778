"""The change log: what was decided about behaviours and made known, the newest first."""

from collections.abc import Iterator

from markupsafe import Markup

from app.components.differences import as_html
from app.public import data
from app.public.parts import Sheet, answer, heading, link, note, text
from app.public.places import where_metric_is
from app.public.visit import Visit
from reviews.contested.change_log import Follower
from reviews.public.changes import PublicDecision
from reviews.public.wording import count


def change_log(visit: Visit) -> Sheet:
    """Every decision, with what became of the wording. Who decided is not told."""
    return Sheet("Change log", _parts(visit))


def _parts(visit: Visit) -> Iterator[Markup]:
    yield visit.choices.form()
    found = data.decisions(visit)
    if not found:
        yield text("No decision about a behaviour of this study has been made known yet.")
        return
    yield answer(
        f"{count(len(found), 'decision')} about behaviours {'was' if len(found) == 1 else 'were'} made known, the newest"
        " first."
    )
    for one in found:
        yield from _decision(visit, one)


def _decision(visit: Visit, one: PublicDecision) -> Iterator[Markup]:
    benchmark, _, metric = one.metric.partition("/")
    yield heading(f"{one.name}: {one.decision.replace('_', ' ')}")
    yield note(f"{one.published_at:%d %B %Y} (UTC); {one.metric}, version {one.version}")
    if one.because:
        yield text(one.because)
    for follower in one.followers:
        yield from _follower(follower)
    for words in (one.sentence, one.note):
        if words:
            yield text(words)
    yield text(link("This behaviour", where_metric_is(visit.study, (benchmark, metric))))


def _follower(follower: Follower) -> Iterator[Markup]:
    why = f": {follower.changed_because}" if follower.changed_because else ""
    yield text(f"It becomes version {follower.version}, {follower.name}{why}")
    for part in follower.differences:
        yield note(f"{part.part.replace('_', ' ').capitalize()}: gone is struck out, new is underlined")
        yield Markup(as_html(part))  # noqa: S704 (it escapes both wordings)
