"""Whether the judge favours its own family: three levels, with what could have been seen at all."""

import pandas as pd
import streamlit as st

from app import audit
from app.components.forest import show_forest
from app.components.item_list import items_below
from app.views.judge import choose_policy, judge_in_view
from app.views.methodologist import study_in_view
from app.wording import count, spell, spell_p
from reviews.audit.own_family import LEVELS, OwnFamily
from reviews.blindness.visibility import Seen
from validation.panel_judges import PanelPreference
from validation.self_preference import Comparison


def own_family() -> None:
    """The judge on its own family and on others."""
    study = study_in_view(Seen.OTHER_LABELS, Seen.VERDICT, Seen.MODEL_NAME)
    st.title("Own family")
    judge = judge_in_view(study)
    if judge is None:
        return
    policy = choose_policy()
    found = audit.own_family_of(study, judge, policy)
    st.markdown(f"**{judge.name}, family {judge.family or 'unknown'}: {found.sentence}.**")
    st.caption(
        "A judge that passes its own family more often may simply be right. What counts is judge minus experts, on its own"
        " family and on others. D is in points of pass rate; MDE is the smallest gap in false passes that these numbers"
        " detect with 80% power."
    )
    if found.family_unknown:
        st.text(
            f"{count(found.family_unknown, 'item')} left out: the family of their model, or of the judge, is not on record."
        )
    whole = found.levels["family"]
    if whole.verdict != "not_identified":
        rows = [
            (LEVELS[name], one.leniency)
            for name, one in found.levels.items()
            if one.verdict != "not_identified"
        ]
        rows += [(f"{name} metrics", one["family"].leniency) for name, one in found.by_polarity.items()]
        show_forest(rows, title="D: judge minus experts, own family minus others", cut_off=0, lowest=-1.0)
    st.dataframe(_levels(found), hide_index=True, width="stretch")
    _tests(found)
    _panel(audit.panel_preference(study))
    st.header("Who plays which role")
    roles = audit.roles_and_families(study)
    st.dataframe(
        roles.map(lambda plays: "yes" if plays else "").rename_axis("Role").reset_index(),
        hide_index=True,
        width="content",
    )
    items = audit.under_figure(study, judge)
    own = items[items["kinship"].isin(["self", "sibling"]) & items["reference"].notna()]
    items_below(
        study,
        own,
        heading="Own-family items, those on which judge and experts differ most first",
        empty="Experts have rated no item of the judge’s own family: nothing identifies a preference.",
    )


def _levels(found: OwnFamily) -> pd.DataFrame:
    rows = [(LEVELS[name], one) for name, one in found.levels.items()]
    rows += [(f"{name} metrics, family", named["family"]) for name, named in found.by_polarity.items()]
    return pd.DataFrame([_level(name, one) for name, one in rows])


def _level(name: str, one: Comparison) -> dict[str, object]:
    return {
        "Level": name,
        "Verdict": one.sentence,
        "D (by metric)": spell(one.leniency),
        "False passes, own minus others": spell(one.false_pass_gap),
        "False fails, own minus others": spell(one.false_fail_gap),
        "Odds ratio of a pass (Mantel–Haenszel)": spell(one.odds_ratio),
        "Criterion c": spell(one.criterion_shift),
        "d′": spell(one.discrimination_shift),
        "Own items that experts fail": one.n_own_fail,
        "Others": one.n_other_fail,
        "MDE": "none could be" if one.detectable is None else f"{one.detectable:.2f}",
    }


def _tests(found: OwnFamily) -> None:
    st.header("These models, or the family?")
    test = found.permutation
    if test.p_these_models is None or test.p_family is None or test.smallest_p_family is None:
        st.write("There are no metrics with labelled items of both: neither can be tested.")
        return
    st.write(
        f"Shuffling models within metrics: p {spell_p(test.p_these_models)}, which speaks of these models. Relabelling whole"
        f" models: p {spell_p(test.p_family)}, which speaks of the family; so few models could give no less than"
        f" {test.smallest_p_family:.2f}."
    )
    rows = [
        {
            "Kinship": name,
            "Odds ratio, given the experts’ verdict, length and age": spell(one.odds_ratio),
            "In points of pass rate": spell(one.marginal_effect),
        }
        for name, one in found.regression.items()
    ]
    if rows:
        st.dataframe(pd.DataFrame(rows), hide_index=True, width="stretch")


def _panel(found: PanelPreference | None) -> None:
    st.header("Several judges on the same conversations")
    if found is None:
        st.write(
            "There are no two judges with a family on record. With a second of another family their preferences could be told"
            " apart without labels."
        )
        return
    rows = [
        {"What": f"{name}, against neutral judges", "Preference": spell(one), "Conversations": one.n}
        for name, one in found.effects.items()
    ]
    rows += [
        {
            "What": f"{one} and {other}, the sum of both",
            "Preference": spell(estimate),
            "Conversations": estimate.n,
        }
        for (one, other), estimate in found.sums.items()
    ]
    st.dataframe(pd.DataFrame(rows), hide_index=True, width="stretch")
    st.caption(
        "Two judges identify only the sum of their preferences; a judge of neither family identifies each. Spread of the"
        f" same figure for families without a judge, the noise floor: {spell(found.placebo_sd)}."
    )
