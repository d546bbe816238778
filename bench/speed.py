"""Every speed comparison, as rows of one table."""

from collections.abc import Iterator

from bench import agreement
from bench import metric_bootstrap as rates
from bench.comparison import Comparison, milliseconds


def metric_bootstrap() -> Iterator[Comparison]:
    """All pass rates of a study resampled, beside scipy's bootstrap of the pooled ones; its own script says more."""
    tally = rates.made_tally()
    strata = rates.strata_of(tally)
    rates.require_equal(tally)
    batch = rates.best_batch(strata)
    plain, batched = "scipy.stats.bootstrap, pooled rates only", f"the same with batch={batch}, its fastest"
    took = rates.times(
        {
            "ours": lambda: rates.ours(tally),
            plain: lambda: rates.scipys(strata, batch=None),
            batched: lambda: rates.scipys(strata, batch=batch),
        }
    )
    wall, ours = took.pop("ours")
    name = f"{rates.DRAWS:,} x {len(tally.metrics)} x {rates.MODELS} metric bootstrap"
    yield Comparison(
        name=f"{name}, every rate",
        ours=milliseconds(ours),
        target=f"<= {rates.SECONDS * 1e3:.0f} ms",
        met=ours <= rates.SECONDS,
        note=f"on the wall {milliseconds(wall)}",
    )
    megabytes = rates.traced_megabytes(lambda: rates.ours(tally))
    yield Comparison(
        name="  its peak memory",
        ours=f"{megabytes:.0f} MB",
        target=f"<= {rates.MEGABYTES} MB",
        met=megabytes <= rates.MEGABYTES,
        note="arrays, traced",
    )
    for other, (_, scipys) in took.items():
        as_it_comes = other == plain
        yield Comparison(
            name="  beside scipy",
            ours=milliseconds(ours),
            theirs=milliseconds(scipys),
            ratio=scipys / ours,
            target=f">= {rates.RATIO}x" if as_it_comes else "-",
            met=scipys >= rates.RATIO * ours if as_it_comes else None,
            note=other,
        )


COMPARISONS = {**agreement.COMPARISONS, "metric_bootstrap": metric_bootstrap}
