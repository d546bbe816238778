"""The section of a report about what experts leave open: decisions at every threshold, and what hidden verdicts would change."""

from reviews.report.document import Section, Table
from reviews.report.figures import Figures
from reviews.report.spelling import spelled
from validation.beta_sweep import BetaSweep


def indeterminacy_section(figures: Figures) -> list[Section]:
    """One section over all judges; none where there is no judge to compare."""
    found = figures.indeterminacy
    if found.sweep is None:
        return []
    thresholds = tuple(
        (one.judge.name, f"{tau:.2f}", spelled(alike), spelled(bias))
        for one in found.judges
        for tau, alike, bias in zip(
            one.curves.thresholds, one.curves.consistency, one.curves.bias, strict=True
        )
    )
    hidden = tuple(
        (name, f"{beta:.1f}", spelled(mse), spelled(alike))
        for name in found.sweep.mse
        for beta, mse, alike in zip(
            found.sweep.betas, found.sweep.mse[name], found.sweep.consistency[name], strict=True
        )
    )
    return [
        Section(
            "indeterminacy",
            "What experts leave open, and what it would change",
            _answer(found.sweep),
            (
                "A label “borderline” is read as “a pass and a fail are both defensible”. β is the share of fails behind which a"
                " pass would have been defensible too, had anybody asked: the smallest β that changes a conclusion says how much"
                " hiding it survives.",
            ),
            tables=(
                Table(
                    "Decisions of judges and experts, by the share of experts that a pass is asked of",
                    ("Judge", "Share of experts", "Decided alike", "Judge’s passes minus the experts’"),
                    thresholds,
                ),
                Table(
                    "If fails had hidden defensible passes",
                    ("Judge", "β", "Distance from what is defensible", "Decided alike at a half"),
                    hidden,
                ),
            ),
        )
    ]


def _answer(sweep: BetaSweep) -> str:
    turns = [
        f"whether {name} decides like experts on three items in four changes at β = {beta:.1f}"
        for name, beta in sweep.claim_flips_at.items()
        if beta is not None
    ]
    if len(sweep.mse) > 1:
        turns.insert(
            0,
            "the order of judges stays as it is"
            if sweep.ranking_flips_at is None
            else f"the order of judges changes at β = {sweep.ranking_flips_at:.1f}",
        )
    return f"Up to β = {max(sweep.betas):.1f}, {'; '.join(turns) or 'no conclusion about a judge changes'}."
