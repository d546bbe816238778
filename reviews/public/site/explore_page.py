"""The models compared: with the ranks that the data leave open, by place, and as experts would have judged."""

from collections.abc import Iterator
from typing import Any

from impactbench.domain import Polarity
from reviews.audit.corrected import Board
from reviews.public.evidence_marks import evidence_mark
from reviews.public.explore import Filters, Level, Weights, model_order, place_rates
from reviews.public.places_checked import places_checked
from reviews.public.results import PublicResults
from reviews.public.site.pages import File, Press, label_page
from reviews.public.site.pictures import intervals
from reviews.public.wording import count, in_hundred, points
from validation.ranking import RankedModel

LEVELS: tuple[tuple[Level, str], ...] = (
    ("area", "domain"),
    ("subarea", "subarea"),
    ("benchmark", "benchmark"),
)
_DOES = {Polarity.POSITIVE: "Helpful behaviour shown", Polarity.NEGATIVE: "Harmful behaviour avoided"}
_WEIGHTS: tuple[tuple[Weights, str], ...] = (
    ("conversation", "every conversation alike"),
    ("benchmark", "every benchmark alike"),
)


def explore_page(press: Press, results: PublicResults) -> File:
    """Orders of each kind of behaviour, which are never mixed; then the places."""
    orders = list(_orders(results))
    alike = [order for order in orders if order["weights"] == "conversation"]
    n_places, settled = (sum(order[name] for order in alike) for name in ("n_places", "settled"))
    answer = (
        f"Of {count(n_places, 'place')} {settled} {'is' if settled == 1 else 'are'} settled by the data; helpful and harmful"
        " behaviour have an order each. Where ranges overlap, no model is ahead of the other."
    )
    page = press.page(
        "explore",
        study=results.study,
        answer=answer,
        orders=orders,
        places=list(_places(results)),
        boards=[_board(results, board) for board in results.checks.corrected if board.n_reviewed],
    )
    return "explore.html", page


def _orders(results: PublicResults) -> Iterator[dict[str, Any]]:
    for polarity in Polarity:
        filters = Filters(polarity=polarity)
        checked = places_checked(results, level="all", filters=filters)
        if not checked:
            continue
        mark = evidence_mark(next(iter(checked.values())))
        known = all(one.known for one in checked.values())
        for weights, words in _WEIGHTS:
            order = model_order(results, filters=filters, weights=weights)
            rows = order.ranking.models
            title = f"{_DOES[polarity]}, {words}"
            yield {
                "title": title,
                "mark": mark,
                "weights": weights,
                "n_places": len(rows),
                "settled": sum(row.lowest == row.highest for row in rows),
                "caption": f"{title}: shares of conversations over {count(order.n_metrics, 'behaviour')}",
                "picture": intervals(
                    [(results.names[str(row.name)], row.rate, known) for row in rows],
                    title=f"{title}: rates with intervals",
                ),
                "rows": [
                    {
                        "href": label_page(str(row.name)),
                        "model": results.names[str(row.name)],
                        "rate": in_hundred(row.rate),
                        "ranks": _ranks(row),
                    }
                    for row in rows
                ],
            }


def _places(results: PublicResults) -> Iterator[dict[str, Any]]:
    for level, word in LEVELS:
        for row in place_rates(results, level=level):
            yield {
                "level": word,
                "place": row.place,
                "model": results.names[row.model],
                "positive": in_hundred(row.positive),
                "negative": in_hundred(row.negative),
                "ages": points(row.teen_minus_adult),
                "n": row.n_metrics,
            }


def _board(results: PublicResults, board: Board) -> dict[str, Any]:
    """Rates by the judge and as experts would have given them, over the reviewed behaviours of one kind."""
    raw = {one.name: one for one in board.raw.models}
    right = {one.name: one for one in board.corrected.models}
    return {
        "title": f"{_DOES[Polarity(board.polarity)]}, as experts would have judged it",
        "said": f"{board.n_reviewed} of {count(board.n_metrics, 'behaviour')} of this kind {'was' if board.n_reviewed == 1 else 'were'} reviewed; these rates speak of"
        " them alone.",
        "rows": [
            [
                results.names[str(one.group)],
                in_hundred(one.judge_rate),
                in_hundred(one.rate),
                _ranks(raw.get(one.group)),
                _ranks(right.get(one.group)),
            ]
            for one in board.rates
        ],
    }


def _ranks(row: RankedModel | None) -> str:
    if row is None:
        return "no data"
    return f"{row.lowest}" if row.lowest == row.highest else f"{row.lowest} to {row.highest}"
