"""Models in order, with the places that the data do not rule out, and what the reader's weights change."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from markupsafe import Markup

from app.public.charts import Dot
from app.public.pages.explore_scope import Scope
from app.public.parts import answer, folded, note, text
from app.public.picture import picture
from app.public.places import where_label_is
from app.public.tables import Cell, table
from app.public.visit import Visit
from impactbench.domain import Polarity
from reviews.audit.corrected import Board
from reviews.public.evidence_marks import evidence_mark
from reviews.public.explore import Weights, model_order
from reviews.public.places_checked import places_checked
from reviews.public.results import PublicResults
from reviews.public.wording import count, in_hundred
from validation.ranking import RankedModel, Ranking

_DOES = {
    Polarity.POSITIVE: "Helpful behaviour shown",
    Polarity.NEGATIVE: "Harmful behaviour avoided",
}


def order(
    visit: Visit, results: PublicResults, scope: Scope, kind: Polarity, chosen: tuple[str, Weights]
) -> Iterator[Markup]:
    """The order over what was chosen."""
    yield visit.choices.form()
    name, weights = chosen
    if name == "own" and not any(weights.values() if isinstance(weights, Mapping) else ()):
        yield text("With no weight at all there is no order: every area counts alike until one has a weight.")
        weights = dict.fromkeys(weights, 1.0)
    filters = replace(scope.filters, polarity=kind)
    checked = places_checked(results, level="all", filters=filters)
    if not checked:
        yield text("No behaviour of this kind is left by these choices. Take one of the filters back.")
        return
    found = model_order(results, filters=filters, weights=weights)
    known = all(one.known for one in checked.values())
    yield answer(_in_a_sentence(found.ranking, results.names))
    mark = evidence_mark(next(iter(checked.values())))
    yield text(
        f"{_DOES[kind]}, in {scope.place}: {count(found.n_metrics, 'behaviour')}. {mark.short}. {mark.sentence}"
    )
    models = found.ranking.models
    yield picture(
        visit,
        [
            Dot(
                row=f"{results.names[str(one.name)]}:  place {_places(one)}",
                promoted=kind is Polarity.POSITIVE,
                rate=one.rate,
                checked=known,
            )
            for one in models
        ],
        title=f"{_DOES[kind]}, share of conversations",
        alt=f"The models in order of {_DOES[kind].lower()}, each with its interval",
    )
    alike = {one.name: one for one in found.by_conversation.models}
    weighed = name != "conversation"
    rows = [
        [
            Cell(
                text=results.names[str(one.name)],
                where=where_label_is(visit.study, str(one.name)),
                whole=True,
            ),
            Cell(text=in_hundred(one.rate), whole=True),
            Cell(text=_places(one), whole=True),
            *([Cell(text=_moved(one, alike.get(one.name)), whole=True)] if weighed else []),
        ]
        for one in models
    ]
    heads = ["Model", "Rate", "Places left open", *(["By conversation"] if weighed else [])]
    yield table(heads, rows, caption="The models in order, with the places that the data leave open")
    yield from _notes(found.ranking, results.names)


def corrected_order(visit: Visit, results: PublicResults, kind: Polarity) -> Iterator[Markup]:
    """What the order would be had experts judged: it speaks of the behaviours that they have reviewed."""
    yield visit.choices.form()
    board = next((one for one in results.checks.corrected if one.polarity == kind), None)
    if board is None or not board.n_reviewed:
        yield text("Experts have reviewed no behaviour of this kind, so nothing can be corrected.")
        return
    yield answer(_in_a_sentence(board.corrected, results.names))
    yield text(
        f"{_DOES[kind]}, as experts would have judged it: {board.n_reviewed} of {board.n_metrics} behaviours were reviewed,"
        " and these rates speak of them alone. Filters do not apply here."
    )
    promoted = kind is Polarity.POSITIVE
    lines = [
        Dot(row=f"{results.names[str(one.group)]}, {who}", promoted=promoted, rate=rate, checked=checked)
        for one in board.rates
        for who, rate, checked in (("corrected", one.rate, True), ("automatic judge", one.judge_rate, False))
    ]
    yield picture(
        visit,
        lines,
        title=f"{_DOES[kind]}, share of conversations",
        alt="For each model, the rate by the automatic judge and the rate corrected by experts",
    )
    yield _corrected_table(board, results.names)
    yield from _notes(board.corrected, results.names)


def _corrected_table(board: Board, names: Mapping[str, str]) -> Markup:
    raw = {one.name: one for one in board.raw.models}
    right = {one.name: one for one in board.corrected.models}
    rows = [
        [
            Cell(text=names[str(one.group)], whole=True),
            Cell(text=in_hundred(one.judge_rate), whole=True),
            Cell(text=in_hundred(one.rate), whole=True),
            Cell(text=_placed(raw.get(one.group)), whole=True),
            Cell(text=_placed(right.get(one.group)), whole=True),
        ]
        for one in board.rates
    ]
    heads = ["Model", "Automatic judge", "Corrected", "Places, judge", "Places, corrected"]
    return table(heads, rows, caption="Rates by the automatic judge and as corrected by experts")


def _in_a_sentence(ranking: Ranking, names: Mapping[str, str]) -> str:
    """Who could be first, and how much of the order is settled."""
    models = ranking.models
    settled = sum(one.lowest == one.highest for one in models)
    leading = sum(one.lowest == 1 for one in models)
    first = (
        f"{names[str(models[0].name)]} is first"
        if leading == 1
        else f"Any of {leading} models could be first"
    )
    if not settled:
        return f"{first}; no model’s place is settled."
    return f"{first}; the place of {settled} of {count(len(models), 'model')} is settled."


def _placed(one: RankedModel | None) -> str:
    return "no data" if one is None else _places(one)


def _places(one: RankedModel) -> str:
    return str(one.lowest) if one.lowest == one.highest else f"{one.lowest} to {one.highest}"


def _moved(one: RankedModel, before: RankedModel | None) -> str:
    """Where a model stood when every conversation counted alike."""
    if before is None:
        return "no data"
    if before.rank == one.rank:
        return f"{_places(before)} (same)"
    return (
        f"{_places(before)} ({'up' if one.rank < before.rank else 'down'} from {before.rank} to {one.rank})"
    )


def _notes(ranking: Ranking, names: Mapping[str, str]) -> Iterator[Markup]:
    yield note(
        "Places left open hold for all models at once, at 95%: two models whose places overlap may stand in either order."
    )
    if ranking.notes:
        said = Markup("").join(map(text, (ranking.method, *ranking.notes)))
        yield folded("For specialists", said)
    if ranking.not_ranked:
        yield text(f"Without data: {', '.join(names[str(one)] for one in ranking.not_ranked)}.")
