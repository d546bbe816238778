"""What a plan has less of than was to be wished, in sentences."""

from collections.abc import Sequence

from impactbench.domain import Panel
from reviews.design.balance import MOST_PAIR_SPREAD, Teams, components, pair_spread
from reviews.design.ordering import REPEAT_DISTANCE, count_repeats, far_enough


def notes_on_teams(
    teams: Teams, names: Sequence[str], panels: Sequence[Panel | None], must_meet: Sequence[Panel]
) -> list[str]:
    """On loads, connection and pairs of raters."""
    notes = []
    seats = sum(teams.loads)
    if idle := [name for name, load in zip(names, teams.loads, strict=True) if not load]:
        notes.append(
            f"There are {seats} seats for {len(names)} raters: {', '.join(idle)} will have nothing to rate."
        )
    if max(teams.loads) - min(teams.loads) > 1:
        notes.append(_explain_loads(teams, panels, must_meet))
    parts = len(components(teams.teams, len(names)))
    if teams.overlap == 1:
        notes.append(
            "With overlap 1 no item has two raters: agreement cannot be computed and raters cannot be compared."
        )
    elif parts > 1:
        notes.append(
            f"The raters fall into {parts} groups without an item in common, so the groups cannot be compared: "
            "more items or a larger overlap would connect them."
        )
    if (spread := pair_spread(teams)) > MOST_PAIR_SPREAD:
        notes.append(_explain_pairs(teams, spread, len(names)))
    return notes


def notes_on_repeats(loads: dict[str, int], share: float) -> list[str]:
    """On lists too short for hidden repeats."""
    short = [name for name, load in loads.items() if not far_enough(load, share)]
    none = [name for name, load in loads.items() if load and not count_repeats(load, share)]
    notes = []
    if share and short:
        notes.append(
            f"{', '.join(short)}: too few items to keep {REPEAT_DISTANCE} positions between an item and its hidden "
            "repeat, so the repeats come last; ask these raters to do them in a later session, two days on or more."
        )
    if share and none:
        notes.append(f"{', '.join(none)}: too few items for a hidden repeat at this share.")
    return notes


def _explain_pairs(teams: Teams, spread: int, n_raters: int) -> str:
    if teams.overlap >= n_raters - 2:
        why = f"since overlap {teams.overlap} leaves little choice among {n_raters} raters"
    elif teams.barred:
        why = "since some raters may not have some items"
    else:
        why = "since metrics and families are kept even as well"
    return f"Pairs of raters meet unevenly: the counts of items in common differ by up to {spread}, {why}."


def _explain_loads(teams: Teams, panels: Sequence[Panel | None], must_meet: Sequence[Panel]) -> str:
    span = f"Loads range from {min(teams.loads)} to {max(teams.loads)}"
    if any(load >= cap for load, cap in zip(teams.loads, teams.caps, strict=True)):
        return f"{span}, because some raters are at the most they may have."
    if teams.barred or not must_meet:
        return f"{span}, because some raters already have some of these items from an earlier set or may not have them."
    by_panel = {
        panel: [load for load, own in zip(teams.loads, panels, strict=True) if own is panel]
        for panel in must_meet
    }
    shares = " and ".join(
        f"{_span(min(loads), max(loads))} for each {panel} rater" for panel, loads in by_panel.items()
    )
    return (
        f"Each item needs an internal and an external rater, so loads cannot be equal across panels: {shares}; "
        "within a panel they differ by at most one."
    )


def _span(low: int, high: int) -> str:
    return f"{low}" if low == high else f"{low} or {high}" if high == low + 1 else f"{low} to {high}"
