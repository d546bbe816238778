"""Pass rates as experts would have given them, beside the judge's, and what remains of the order of models."""

import pandas as pd
import streamlit as st

from app import audit
from app.components.forest import show_forest
from app.components.item_list import items_below
from app.views.judge import choose_policy, judge_in_view
from app.views.methodologist import study_in_view
from app.wording import spell
from reviews.audit.corrected import Board
from reviews.blindness.visibility import Seen
from validation.ranking import RankedModel
from validation.stability import Stability

_TIPPING = {
    "holds": "holds: no bias within the interval turns it round",
    "reversed": "turned round by the bias that was found",
    "cannot_tell": "cannot be told: a bias within the interval turns it round",
}


def corrected() -> None:
    """One board for each polarity; they are never mixed."""
    study = study_in_view(Seen.OTHER_LABELS, Seen.VERDICT, Seen.MODEL_NAME)
    st.title("Corrected rates")
    judge = judge_in_view(study)
    if judge is None:
        return
    policy = choose_policy()
    boards = audit.boards(study, judge, policy)
    if not any(board.n_reviewed for board in boards):
        st.write("Experts have rated nothing that the judge judged, so no rate can be corrected.")
        return
    established = sum(_established(board.corrected.models) for board in boards)
    models = sum(len(board.corrected.models) for board in boards)
    st.markdown(
        f"**After correction {established} of {models} places of models are established; where a rank set spans several"
        " places, the order within it is not.**"
    )
    st.caption(
        "Corrected rates speak of the reviewed metrics alone. Rank sets hold for all models at once, at 95%; metrics are"
        " resampled."
    )
    orders = audit.orders(study, judge, policy)
    for board in boards:
        _board(board, orders.get(board.polarity))
    items_below(
        study,
        audit.under_figure(study, judge),
        heading="The labelled items behind the corrections, those on which judge and experts differ most first",
        empty="Experts and judge have no item in common.",
    )


def _established(models: tuple[RankedModel, ...]) -> int:
    return sum(model.lowest == model.highest for model in models)


def _board(board: Board, order: Stability | None) -> None:
    st.header(f"{board.polarity.capitalize()} metrics")
    st.text(f"{board.n_reviewed} of {board.n_metrics} metrics have labels.")
    pairs = [
        (f"{one.group}, {who}", estimate)
        for one in board.rates
        for who, estimate in (("judge", one.judge_rate), ("corrected", one.rate))
    ]
    show_forest(pairs, title="Pass rate", lowest=0.0)
    raw = {model.name: model for model in board.raw.models}
    right = {model.name: model for model in board.corrected.models}
    st.dataframe(
        pd.DataFrame(
            [
                {
                    "Model": one.group,
                    "Judge": spell(one.judge_rate, percent=True),
                    "Corrected": spell(one.rate, percent=True),
                    "Labels": one.rate.n,
                    "Rank by judge": _rank(raw.get(one.group)),
                    "Corrected rank": _rank(right.get(one.group)),
                    "How corrected": one.choice.estimator.replace("_", " "),
                    "Why so": one.choice.because,
                    "Mind": one.choice.flag or "",
                }
                for one in board.rates
            ]
        ),
        hide_index=True,
        width="stretch",
    )
    for note in dict.fromkeys([*board.raw.notes, *board.corrected.notes]):
        st.text(f"{note[0].upper()}{note[1:]}.")
    if board.tipping:
        st.markdown("**What would turn neighbours round**")
        st.dataframe(
            pd.DataFrame(
                [
                    {
                        "Above": one.above,
                        "Below": one.below,
                        "Difference by the judge": f"{one.found.difference:.2f}",
                        "Judge’s bias towards the upper": spell(one.found.bias),
                        "The order": _TIPPING[one.found.verdict],
                    }
                    for one in board.tipping
                ]
            ),
            hide_index=True,
            width="stretch",
        )
    if order is not None:
        _stability(order)


def _rank(model: RankedModel | None) -> str:
    if model is None:
        return "not ranked"
    spread = f"{model.lowest}" if model.lowest == model.highest else f"{model.lowest} to {model.highest}"
    return f"{model.rank}, set {spread}"


def _stability(order: Stability) -> None:
    models = order.perturbations[0].kendall.n if order.perturbations else 0
    st.markdown(f"**The order of {models} models under every other choice**")
    st.dataframe(
        pd.DataFrame(
            [
                {
                    "Choice": one.name,
                    "Kendall’s τ": spell(one.kendall),
                    "Spearman’s ρ": spell(one.spearman),
                    "Same first": "yes" if one.keeps_first else "no",
                    "Same first three": "yes" if one.keeps_first_three else "no",
                    "Pairs turned round": one.discordant_pairs,
                }
                for one in order.perturbations
            ]
        ),
        hide_index=True,
        width="stretch",
    )
    st.caption(
        f"The first place is kept under {order.keeps_first:.0%} of the choices. Contested metrics are left out in a row of"
        " their own where there are any."
    )
