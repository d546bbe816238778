"""Evidence on a metric from shares: indeterminacy, cannot judge, construct, saturation, differential error (D3, D3u, D5, D6, D7)."""

from collections.abc import Hashable, Mapping

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, betaincc, betaincinv
from scipy.stats import beta

from validation.metric_evidence import THRESHOLDS, Domain, DomainEvidence, not_assessed
from validation.results import Estimate
from validation.self_preference import rate_gap


def indeterminacy(
    marked: Mapping[Hashable, tuple[NDArray[np.int64], NDArray[np.int64]]],
    *,
    domain: Domain = Domain.INDETERMINACY,
    threshold: float | None = None,
    least_ratings: int = 9,
) -> dict[Hashable, DomainEvidence]:
    """D3 and D3u: P(share of "both defensible", or of "cannot judge", above the threshold).

    Ratings of one item are not independent: the posterior Beta(1/2, 1/2) counts as many ratings as the spread of
    the items' shares is worth, between the number of items and the number of ratings.

    Args:
        marked: for each metric, two arrays over its items: ratings so marked, and ratings.
        domain: `INDETERMINACY` or `UNSURE`.
        threshold: None takes the default of the domain.
        least_ratings: the floor.
    """
    if domain not in (Domain.INDETERMINACY, Domain.UNSURE):
        raise ValueError(f"domain={domain!r} is not a share of ratings")
    limit = THRESHOLDS[domain] if threshold is None else threshold
    found: dict[Hashable, DomainEvidence] = {}
    for metric, (hits, sizes) in marked.items():
        rated = np.asarray(sizes) > 0
        hit, size = np.asarray(hits)[rated], np.asarray(sizes)[rated]
        n, total = int(size.sum()), int(hit.sum())
        counts = {"marked": total, "ratings": n, "items": len(size)}
        if n < least_ratings:
            short = f"{least_ratings} ratings are needed, {n} are there"
            found[metric] = not_assessed(domain, n, counts, short, "too_few_ratings" if n else "no_ratings")
            continue
        share = float((hit / size).mean())
        found[metric] = _beta_evidence(domain, share, _worth(hit / size, n), n, counts, limit)
    return found


def construct(
    reviews: Mapping[Hashable, tuple[int, int, int]],
    *,
    threshold: float = THRESHOLDS[Domain.CONSTRUCT],
    least_reviewers: int = 3,
    rename_votes: int = 2,
) -> dict[Hashable, DomainEvidence]:
    """D5: P(share of reviewers who do not find the metric adequate above the threshold), or two votes to rename.

    Args:
        reviews: for each metric: reviewers not answering "adequate", reviewers, votes to rename or redefine.
        threshold: the share above which the construct is of concern.
        least_reviewers: the floor; never one.
        rename_votes: so many votes are a concern whatever the share.
    """
    found: dict[Hashable, DomainEvidence] = {}
    for metric, (inadequate, reviewers, renames) in reviews.items():
        counts = {"not_adequate": inadequate, "reviewers": reviewers, "rename_votes": renames}
        if reviewers < least_reviewers:
            short = f"{least_reviewers} reviewers are needed, {reviewers} are there"
            reason = "too_few_raters" if reviewers else "no_ratings"
            found[metric] = not_assessed(Domain.CONSTRUCT, reviewers, counts, short, reason)
            continue
        found[metric] = _beta_evidence(
            Domain.CONSTRUCT,
            inadequate / reviewers,
            reviewers,
            reviewers,
            counts,
            threshold,
            triggered=renames >= rename_votes,
        )
    return found


def saturation(
    passes: Mapping[Hashable, tuple[int, int]],
    *,
    threshold: float = THRESHOLDS[Domain.SATURATION],
    least_conversations: int = 30,
) -> dict[Hashable, DomainEvidence]:
    """D6: P(pass rate over all models within the threshold of 0 or of 1): a reason to audit the rubric.

    Args:
        passes: for each metric, conversations passed and conversations.
        threshold: 0.02 means under 2% or over 98%.
        least_conversations: the floor.
    """
    found: dict[Hashable, DomainEvidence] = {}
    for metric, (passed, n) in passes.items():
        counts = {"passed": passed, "conversations": n}
        if n < least_conversations:
            short = f"{least_conversations} conversations are needed, {n} are there"
            found[metric] = not_assessed(
                Domain.SATURATION, n, counts, short, "too_few_items" if n else "no_items"
            )
            continue
        a, b = passed + 0.5, n - passed + 0.5
        found[metric] = DomainEvidence(
            domain=Domain.SATURATION,
            probability=float(betainc(a, b, threshold) + betaincc(a, b, 1 - threshold)),
            estimate=_beta_estimate(passed / n, a, b, n),
            n=n,
            counts=counts,
        )
    return found


def differential_error(
    errors: Mapping[Hashable, tuple[float, int, float, int]],
    *,
    threshold: float = THRESHOLDS[Domain.DIFFERENTIAL_ERROR],
    least_items: int = 6,
) -> dict[Hashable, DomainEvidence]:
    """D7: P(the judge's error rates in two groups differ by more than the threshold), each Beta(1/2, 1/2).

    Args:
        errors: for each metric: errors and items in one group (teens, or the judge's family), and in the other.
        threshold: a difference that matters, either way.
        least_items: the floor, in each group.
    """
    found: dict[Hashable, DomainEvidence] = {}
    middle = (np.arange(1000) + 0.5) / 1000
    for metric, (first, n, second, other_n) in errors.items():
        counts = {"errors": first, "items": n, "errors_of_the_others": second, "items_of_the_others": other_n}
        fewer = min(n, other_n)
        if fewer < least_items:
            short = f"{least_items} items in each group are needed, {n} and {other_n} are there"
            reason = "too_few_items" if fewer else "no_items"
            found[metric] = not_assessed(Domain.DIFFERENTIAL_ERROR, fewer, counts, short, reason)
            continue
        rate = beta.ppf(middle, first + 0.5, n - first + 0.5)
        a, b = second + 0.5, other_n - second + 0.5
        apart = beta.cdf(rate - threshold, a, b) + beta.sf(rate + threshold, a, b)
        found[metric] = DomainEvidence(
            domain=Domain.DIFFERENTIAL_ERROR,
            probability=float(apart.mean()),
            estimate=rate_gap((first, n), (second, other_n)),
            n=fewer,
            counts=counts,
        )
    return found


def _worth(shares: NDArray[np.float64], ratings: int) -> float:
    items, mean = len(shares), float(shares.mean())
    if items == ratings:
        return ratings
    spread = float(shares.var(ddof=1)) / items if items > 1 else 0.0
    return float(np.clip(mean * (1 - mean) / spread, items, ratings)) if spread > 0 else items


def _beta_evidence(
    domain: Domain,
    share: float,
    worth: float,
    n: int,
    counts: Mapping[str, float],
    threshold: float,
    *,
    triggered: bool = False,
) -> DomainEvidence:
    a, b = worth * share + 0.5, worth * (1 - share) + 0.5
    return DomainEvidence(
        domain=domain,
        probability=float(betaincc(a, b, threshold)),
        estimate=_beta_estimate(share, a, b, n),
        n=n,
        counts=counts,
        triggered=triggered,
    )


def _beta_estimate(share: float, a: float, b: float, n: int) -> Estimate:
    low, high = betaincinv(a, b, 0.025), betaincinv(a, b, 0.975)
    return Estimate(
        value=share,
        low=float(min(low, share)),
        high=float(max(high, share)),
        n=n,
        method="Beta(1/2, 1/2) prior, 95% credible interval",
    )
