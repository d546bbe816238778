"""The raters: who leans which way, who says the same again, who drifts, who agrees with whom. Words before numbers."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from impactbench.domain import AssignmentReason, LabelStatus
from reviews.audit.groups import Kind, groups, of_group
from reviews.audit.items import ITEM
from reviews.evidence import SCALE, SEED, StudyTables, alone
from validation.agreement import krippendorff_alpha, percent_agreement
from validation.many_facet_rasch import many_facet_rasch
from validation.rater_groups import agreement_between, rater_groups
from validation.raters import WithoutRater, leave_one_rater_out, severity
from validation.ratings import Ratings
from validation.results import Estimate
from validation.self_preference import rate_gap

HARSH_OR_LENIENT = 0.10
"""A lean of less than a tenth of the scale is not put into words."""
CERTAIN = 0.05
FEWEST_FOR_DRIFT = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class RaterRow:
    """One rater beside the others on the items they share."""

    rater: Hashable
    panel: str
    labels: int
    lean: Estimate
    """Mean of own score minus that of the others, fail 0, borderline a half, pass 1."""
    shrunken: float | None
    p_adjusted: float | None
    logits: Estimate
    """Severity by a many-facet Rasch model: above 0 harsher; undefined where raters cannot be compared."""
    component: int
    drift: Estimate
    """Share of passes in the last third of their items minus the first."""
    repeated: Estimate
    """Share of hidden repeats that got the same label."""
    repeated_alpha: Estimate
    without: WithoutRater | None
    """Alpha of the others without this rater."""
    cluster: int | None
    """The group of raters who agree among themselves."""
    borderline: float | None
    """Share of borderline labels."""
    cannot_judge: int

    @property
    def flagged(self) -> bool:
        """Whether the rater leans clearly and beyond what chance among so many raters gives."""
        clear = self.lean.value is not None and abs(self.lean.value) >= HARSH_OR_LENIENT
        return clear and self.p_adjusted is not None and self.p_adjusted < CERTAIN

    @property
    def words(self) -> str:
        """What may be said of the rater."""
        if self.lean.value is None:
            return "shares no item with others: cannot be compared"
        if not self.flagged:
            return "no clear lean"
        return "passes less than the others" if self.lean.value < 0 else "passes more than the others"


@dataclass(frozen=True, slots=True, kw_only=True)
class RaterAudit:
    """The raters of a study."""

    raters: tuple[RaterRow, ...]
    """By pseudonym: this is no leaderboard."""
    within: Mapping[int, Estimate]
    """Group of raters -> ordinal alpha among themselves."""
    whole: Estimate
    """Ordinal alpha of all raters."""
    coherent: bool
    """Whether every group agrees better in itself than all do together: then nobody is an outlier, there are two views."""
    components: int
    agreement: pd.DataFrame
    """(raters, raters): share of shared items on which two agree; missing where they share none."""

    @property
    def sentence(self) -> str:
        """What to say first."""
        flagged = [str(row.rater) for row in self.raters if row.flagged]
        lean = (
            f"{', '.join(flagged)} clearly lean{'s' if len(flagged) == 1 else ''} away from the others"
            if flagged
            else "No rater clearly leans away from the others"
        )
        apart = (
            "; the raters fall into groups that share no item and cannot be compared"
            if self.components > 1
            else ""
        )
        views = "; raters fall into groups that agree better among themselves, so look at their reasons before calling anybody an outlier"
        return f"{lean}{views if self.coherent and not apart else ''}{apart}."


def rater_audit(tables: StudyTables) -> RaterAudit:
    """Every rater of the random core, on items that others rated too."""
    ratings = of_group(tables.core_ratings, groups(tables, [Kind.ALL])[0])
    rows = tables.assignments
    repeats = _repeats(rows)
    rasch = many_facet_rasch(ratings).severity
    without = leave_one_rater_out(ratings)
    clusters = rater_groups(ratings) if ratings.raters else None
    known = rows.drop_duplicates("rater")
    panels = dict(zip(known["rater"], known["panel"], strict=True))
    rows_of: dict[Hashable, pd.DataFrame] = dict(iter(rows[rows["repeat"] == 0].groupby("rater")))
    found = []
    for one in severity(ratings, seed=SEED):
        own = rows_of[one.rater]
        submitted = own[own["status"] == LabelStatus.SUBMITTED]
        again = repeats.get(one.rater, Ratings.from_table([], categories=SCALE))
        found.append(
            RaterRow(
                rater=one.rater,
                panel="" if pd.isna(panels[one.rater]) else str(panels[one.rater]),
                labels=len(submitted),
                lean=one.lean,
                shrunken=one.shrunken,
                p_adjusted=one.p_adjusted,
                logits=rasch[one.rater],
                component=one.component,
                drift=_drift(submitted),
                repeated=percent_agreement(again),
                repeated_alpha=krippendorff_alpha(again, level="ordinal"),
                without=without.get(one.rater),
                cluster=None if clusters is None else clusters[one.rater],
                borderline=float((submitted["label"] == "borderline").mean()) if len(submitted) else None,
                cannot_judge=int((own["status"] == LabelStatus.CANNOT_JUDGE).sum()),
            )
        )
    whole = krippendorff_alpha(alone(ratings), level="ordinal")
    within = _within(ratings, clusters)
    table, _ = agreement_between(ratings)
    return RaterAudit(
        raters=tuple(sorted(found, key=lambda row: str(row.rater))),
        within=within,
        whole=whole,
        coherent=len(within) > 1
        and all(
            one.low is not None and whole.value is not None and one.low > whole.value
            for one in within.values()
        ),
        components=len({row.component for row in found if row.component >= 0}),
        agreement=pd.DataFrame(table, index=list(ratings.raters), columns=list(ratings.raters)),
    )


def _within(ratings: Ratings, clusters: Mapping[Hashable, int] | None) -> dict[int, Estimate]:
    if clusters is None:
        return {}
    found = {}
    for number in sorted(set(clusters.values())):
        members = np.array([clusters[rater] == number for rater in ratings.raters], dtype=np.bool_)
        if members.sum() > 1:
            part = Ratings(
                ratings.codes[:, members],
                ratings.categories,
                ratings.units,
                tuple(r for r, kept in zip(ratings.raters, members, strict=True) if kept),
            )
            found[number] = krippendorff_alpha(part, level="ordinal")
    return found


def _drift(submitted: pd.DataFrame) -> Estimate:
    """Pass share in the last third of somebody's items, in the order they answered, minus that in the first."""
    third = len(submitted) // 3
    if len(submitted) < FEWEST_FOR_DRIFT:
        return Estimate.undefined("too_few_items", n=len(submitted))
    passed = (submitted.sort_values(["labelled_at", "position"], kind="stable")["label"] == "pass").to_numpy()
    return rate_gap((float(passed[-third:].sum()), third), (float(passed[:third].sum()), third))


def _repeats(rows: pd.DataFrame) -> dict[Hashable, Ratings]:
    """Rater -> what they said of hidden repeats, both times: raters of the table are the showings."""
    key = ["rater", *ITEM]
    twice = rows.loc[rows["reason"] == AssignmentReason.REPEAT, key].drop_duplicates()
    shown = rows.merge(twice, on=key)
    shown = shown[shown["status"] == LabelStatus.SUBMITTED]
    found: dict[Hashable, Ratings] = {}
    for rater, own in shown.groupby("rater"):
        long = pd.DataFrame(
            {
                "unit": list(zip(own["conversation_id"], own["metric_version_id"], strict=True)),
                "rater": own["repeat"],
                "value": own["label"].map(str),
            }
        ).astype(object)
        found[rater] = Ratings.from_frame(long, categories=SCALE)
    return found
