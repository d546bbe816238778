"""An invented study as a frame of passed or failed conversations, and what tests of its rates share."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from hypothesis import strategies as st

from impactbench.aggregation import PassRates, pass_rates
from impactbench.rates.metric_tally import COLUMNS, tally_metrics
from validation.results import Estimate

SEED = 7


def study(
    *,
    seed: int = 0,
    models: int = 3,
    benchmarks: int = 3,
    metrics: tuple[int, int] = (6, 5),
    scenarios: int = 3,
    unscored: float = 0.0,
) -> pd.DataFrame:
    """A study of so many (positive, negative) metrics a benchmark, each with its own difficulty."""
    rng = np.random.default_rng(seed)
    rows = []
    for b in range(benchmarks):
        for polarity, count in zip(("positive", "negative"), metrics, strict=True):
            for m in range(count):
                easy = rng.beta(3, 2)
                for j in range(models):
                    for age in ("teen", "adult"):
                        for s in range(scenarios):
                            passed = rng.random() < np.clip(easy + 0.1 * j, 0, 1)
                            verdict = pd.NA if rng.random() < unscored else bool(passed)
                            rows.append(
                                (
                                    f"model-{j}",
                                    f"bench-{b}",
                                    f"{polarity[:3]}-{m}",
                                    polarity,
                                    age,
                                    f"s{s}-{age}",
                                    verdict,
                                )
                            )
    frame = pd.DataFrame(rows, columns=list(COLUMNS))
    frame["passed"] = frame["passed"].astype("boolean")
    return frame


def rates_of(frame: pd.DataFrame, *, draws: int = 400, seed: int = SEED) -> PassRates:
    return pass_rates(tally_metrics(frame), draws=draws, seed=seed)


def all_estimates(found: Any) -> Iterator[Estimate]:
    """Every estimate somewhere in a result."""
    if isinstance(found, Estimate):
        yield found
    elif isinstance(found, dict):
        for value in found.values():
            yield from all_estimates(value)
    elif isinstance(found, tuple):
        for value in found:
            yield from all_estimates(value)
    elif hasattr(found, "__dataclass_fields__"):
        for name in found.__dataclass_fields__:
            yield from all_estimates(getattr(found, name))


studies = st.builds(
    study,
    seed=st.integers(0, 1000),
    models=st.integers(1, 3),
    benchmarks=st.integers(1, 4),
    metrics=st.tuples(st.integers(0, 4), st.integers(1, 5)),
    scenarios=st.integers(1, 2),
    unscored=st.sampled_from([0.0, 0.2, 0.6]),
)
