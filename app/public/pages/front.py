"""Where whoever has not signed in arrives: what this is, and what has been released."""

from collections.abc import Iterator, Mapping, Sequence

from markupsafe import Markup
from sqlalchemy import Engine

from app.public.parts import Sheet, answer, heading, link, text
from app.public.places import where_page_is
from reviews.public.releasing import PublicStudy
from reviews.public.results import kept_public
from reviews.public.wording import count

_WAYS = {
    "label": ("Nutrition label", "one model at a time: what it promotes and what it avoids"),
    "explore": ("Explore", "the models side by side, over everything or in one area"),
    "metrics": ("Metrics", "what was looked for, in which words, and the conversations"),
    "statistics": ("Statistics", "what a paper would report"),
}
_LIST, _WAY = Markup('<ul class="ib-ways">{}</ul>'), Markup("<li>{}: {}</li>")


def front(
    engine: Engine, studies: Sequence[PublicStudy], *, data: Mapping[str, Sequence[str]] | None = None
) -> Sheet:
    """The released studies, each with the ways into it, and where its data are if they are written beside it."""
    return Sheet("ImpactBench", _parts(engine, studies, data or {}))


def _parts(
    engine: Engine, studies: Sequence[PublicStudy], data: Mapping[str, Sequence[str]]
) -> Iterator[Markup]:
    yield answer(
        "What do chatbots promote, what do they avoid, and how well was that checked?",
        "Chatbots were tried in conversations with simulated people, teens and adults. An automatic judge read each one, and"
        " beside every result stands how far experts have checked the judge.",
    )
    if not studies:
        yield text("No results have been released yet. Please come back later.")
    for study in studies:
        yield heading(study.title or study.slug)
        yield text(_in_a_sentence(engine, study))
        ways = (
            _WAY.format(link(name, where_page_is(path, study)), what) for path, (name, what) in _WAYS.items()
        )
        yield _LIST.format(Markup("").join(ways))
        if study.slug in data:
            names = (link(where.rpartition("/")[2], where) for where in data[study.slug])
            yield text(Markup("Data: {}").format(Markup(", ").join(names)))


def _in_a_sentence(engine: Engine, study: PublicStudy) -> str:
    results = kept_public(engine, study.slug)
    if not results.tally.metrics:
        return "Nothing of this study has been judged yet."
    known = results.metrics.values()
    checked = sum(one.checked.n_experts > 0 for one in known)
    return (
        f"{count(len(results.tally.models), 'model')}, {count(len(known), 'behaviour')},"
        f" {count(int(results.tally.scored.sum()), 'verdict')} of the automatic judge; experts have checked it on"
        f" {checked or 'none'} of the behaviours."
    )
