"""How well the verdicts of each place were checked, for what a reader has chosen to look at."""

from impactbench.domain import Polarity
from reviews.public.checks import Checked
from reviews.public.explore import Filters, Level, chosen_metrics, members
from reviews.public.results import PublicResults


def places_checked(
    results: PublicResults, *, level: Level, filters: Filters | None = None
) -> dict[tuple[str, Polarity], Checked]:
    """What is known about the metrics of each place and polarity that the filters leave; absent where there are none."""
    tally, kept = results.tally, chosen_metrics(results, filters or Filters())
    found = {}
    for place, inside in members(results, level).items():
        for polarity in Polarity:
            of_polarity = tally.positive == (polarity is Polarity.POSITIVE)
            versions = [
                results.metrics[key].metric_version_id
                for key, chosen in zip(tally.metrics, inside & kept & of_polarity, strict=True)
                if chosen
            ]
            if versions:
                found[place, polarity] = results.checks.of(versions)
    return found
