"""Several judges: which to choose, what experts find defensible, and whether the order of models depends on the judge."""

import pandas as pd
import streamlit as st

from app import audit
from app.charts import thresholds
from app.components.item_list import items_below
from app.components.permalinks import switch
from app.views.methodologist import study_in_view
from app.wording import count, spell, spell_bounds
from reviews.audit.indeterminacy import FEWEST_RUNS, Indeterminacy
from reviews.audit.panel import PanelOfJudges
from reviews.blindness.visibility import Seen
from validation.beta_sweep import CLAIMED, BetaSweep

_CURVES = {
    "consistency": "Share of items that judge and experts decide alike",
    "bias": "Judge’s pass rate minus the experts’",
}
_AXES = {"consistency": "Decided alike", "bias": "Judge minus experts"}
"""Short: a title longer than the picture is high takes the room of the picture."""


def judges() -> None:
    """What experts find defensible, and the judges beside it."""
    study = study_in_view(Seen.OTHER_LABELS, Seen.VERDICT)
    st.title("Indeterminacy and judges")
    open_verdicts = audit.indeterminate(study)
    if open_verdicts.within.value is None:
        st.write("Experts have labelled nothing yet.")
        return
    st.markdown(
        f"**{spell(open_verdicts.within, percent=True)} of labels say that a pass and a fail are both defensible, and"
        f" {spell(open_verdicts.between, percent=True)} of pairs of experts differ: from the share that"
        f" passes to the share that could defend a pass it is {spell_bounds(open_verdicts.pass_rate)}.**"
    )
    st.caption(
        "A borderline label is read as “both verdicts are defensible”. That does not hold where it was also the button"
        " for “I do not know”."
    )
    if not open_verdicts.judges:
        st.write("No judge has been recorded for the conversations of this study.")
        return
    _curves(open_verdicts)
    if open_verdicts.sweep is not None:
        _sweep(open_verdicts.sweep)
    found = audit.compare_judges(study)
    _choice(found)
    for polarity, order in found.orders.items():
        if order is None:
            continue
        st.markdown(
            f"**{polarity.capitalize()} metrics: the order of models by {found.choices[0].judge.name} and …**"
        )
        rows = [
            {
                "Choice": one.name,
                "Kendall’s τ": spell(one.kendall),
                "Spearman’s ρ": spell(one.spearman),
                "Same first": "yes" if one.keeps_first else "no",
                "Pairs turned round": one.discordant_pairs,
            }
            for one in order.perturbations
        ]
        st.dataframe(pd.DataFrame(rows), hide_index=True, width="stretch")
    items_below(
        study,
        audit.under_figure(study, found.choices[0].judge).drop(columns="model"),
        heading=f"Items, those on which {found.choices[0].judge.name} and the experts differ most first",
        empty="Experts and judge have no item in common.",
    )


def _sweep(sweep: BetaSweep) -> None:
    st.header("If experts who chose a fail had found a pass defensible too")
    judges = list(sweep.mse)
    turn = [
        f"{name} no longer decides like experts on three items in four from β = {beta:.1f} on"
        if _held(sweep, name)
        else f"{name} decides like experts on three items in four only from β = {beta:.1f} on"
        for name, beta in sweep.claim_flips_at.items()
        if beta is not None
    ]
    order = (
        []
        if len(judges) < 2
        else ["the order of judges stays as it is"]
        if sweep.ranking_flips_at is None
        else [f"the order of judges changes at β = {sweep.ranking_flips_at:.1f}"]
    )
    said = "; ".join([*order, *turn]) or "no conclusion about a judge changes"
    st.markdown(f"**Up to β = {max(sweep.betas):.1f}: {said}.**")
    st.caption(
        "A forced choice hides what else somebody could have defended. β is the share of fails behind which a pass would have"
        " been defensible too; the smallest β that changes a conclusion says how much hiding it survives."
    )
    rows = [
        {
            "Judge": name,
            "β": f"{beta:.1f}",
            "Distance": spell(sweep.mse[name][at]),
            "Decides alike at a half": spell(sweep.consistency[name][at]),
        }
        for name in judges
        for at, beta in enumerate(sweep.betas)
    ]
    with st.expander("The table behind it"):
        st.dataframe(pd.DataFrame(rows), hide_index=True, width="stretch")


def _held(sweep: BetaSweep, judge: str) -> bool:
    first = sweep.consistency[judge][0].value
    return first is not None and first >= CLAIMED


def _curves(found: Indeterminacy) -> None:
    st.header("What a decision would be at each threshold")
    which = switch("Curve", _CURVES, name="curve")
    st.altair_chart(
        thresholds(
            found.judges[0].curves.thresholds,
            [(one.judge.name, getattr(one.curves, which)) for one in found.judges],
            title=_AXES[which],
            lowest=-1.0 if which == "bias" else 0.0,
        )
    )
    rows = [
        {
            "Judge": one.judge.name,
            "Share of experts asked for": f"{tau:.2f}",
            "Decide alike": spell(alike),
            "Bias": spell(bias),
            "Items": alike.n,
        }
        for one in found.judges
        for tau, alike, bias in zip(
            one.curves.thresholds, one.curves.consistency, one.curves.bias, strict=True
        )
    ]
    with st.expander("The table behind the curve"):
        st.dataframe(pd.DataFrame(rows), hide_index=True, width="stretch")
    few = [one.judge.name for one in found.judges if one.runs < FEWEST_RUNS]
    if few:
        st.caption(
            f"Fewer than {FEWEST_RUNS} runs, so the shares of these judges are coarse: {', '.join(few)}."
        )


def _choice(found: PanelOfJudges) -> None:
    st.header("Which judge to choose")
    if len(found.choices) == 1:
        st.write("There is one judge. Bring in the verdicts of a second to compare:")
        st.code(
            "impactbench import verdicts FILE --study STUDY --judge MODEL", language=None, wrap_lines=True
        )
    st.dataframe(
        pd.DataFrame(
            [
                {
                    "Judge": one.judge.name,
                    "Family": one.judge.family,
                    "Runs": one.runs,
                    "Distance from what experts find defensible": spell(one.mse),
                    "Agreement with their majority": spell(one.accuracy, percent=True),
                    "κ": spell(one.kappa),
                    "Items": one.mse.n,
                }
                for one in found.choices
            ]
        ),
        hide_index=True,
        width="stretch",
    )
    st.caption(
        f"Mean squared distance over {count(found.choices[0].mse.n, 'item')} that all judges and experts rated, 0 is"
        " best; it chooses. Agreement with the majority hides what experts find open."
    )
    if found.chosen_differs:
        st.warning(
            "The judge that agrees most with the majority is another than the one nearest to what experts find defensible."
        )
    if found.between:
        rows = [
            {"Judges": f"{one} and {other}", "Items": kappa.n, "Cohen’s κ": spell(kappa)}
            for (one, other), kappa in found.between.items()
        ]
        st.dataframe(pd.DataFrame(rows), hide_index=True, width="content")
