"""From labels to verdicts: every way of turning fail / borderline / pass into the reference of an item.

A `Policy` names all the choices; `reference` carries them out. Whether labels are mapped before they are aggregated
or after is one of them: PPBBB with borderline dropped is a pass in the one order and dropped in the other.
"""

import hashlib
import itertools
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
import yaml
from numpy.typing import ArrayLike, NDArray

from validation.item_kinds import kinds_of_items
from validation.ratings import MISSING, Ratings

Floats = NDArray[np.float64]

Order = Literal["map_then_agg", "agg_then_map"]
Borderline = Literal["pass", "fail", "drop", "half"]
Aggregation = Literal["majority", "plurality", "unanimous", "any_fail", "any_pass", "mean"]
Tie = Literal["drop", "half", "adjudicated", "worst"]
Singles = Literal["include", "exclude"]
Unsure = Literal["na", "borderline"]
Info = Literal["all", "confident"]

CHOICES: dict[str, tuple[str, ...]] = {
    "order": get_args(Order),
    "borderline": get_args(Borderline),
    "aggregation": get_args(Aggregation),
    "tie": get_args(Tie),
    "singles": get_args(Singles),
    "unsure": get_args(Unsure),
    "info": get_args(Info),
}
"""Every field of a policy and its values."""

LABELS = ("fail", "borderline", "pass", "unsure")
CONFIDENT = 3
"""Ratings with at least this confidence (of 4) stay under info="confident"."""
TIEBREAKING = ("majority", "plurality")
AFTER_AGGREGATION = ("majority", "plurality", "unanimous")


_DECIDES: dict[tuple[Order, Aggregation], str] = {
    ("map_then_agg", "majority"): "more than half of the labels decide",
    ("map_then_agg", "unanimous"): "all labels must agree",
    ("map_then_agg", "any_fail"): "one fail is enough to fail",
    ("map_then_agg", "any_pass"): "one pass is enough to pass",
    ("map_then_agg", "mean"): "the share of passes is the verdict",
    ("agg_then_map", "majority"): "the label that more than half gave decides",
    ("agg_then_map", "plurality"): "the most frequent label decides",
    ("agg_then_map", "unanimous"): "all must have given the same label",
}
COUNTS: dict[Borderline | Tie, str] = {
    "pass": "counts as a pass",
    "fail": "counts as a fail",
    "drop": "is left out",
    "half": "counts half for each",
    "adjudicated": "is settled by adjudication",
    "worst": "counts as a fail",
}
"""What becomes of a borderline label, or of a tie, for people."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """One complete rule from the labels of an item to its reference verdict.

    >>> Policy(borderline="fail", aggregation="unanimous", singles="exclude").name
    'map_then_agg|b=fail|unanimous|singles=exclude'
    """

    order: Order = "map_then_agg"
    """Map each label to a verdict and then aggregate, or aggregate labels and map the winner."""
    borderline: Borderline = "half"
    """What borderline counts as; half is the soft verdict 0.5."""
    aggregation: Aggregation = "majority"
    """majority: more than half of the mapped values; plurality: the most frequent label (agg_then_map only);
    unanimous: else not available; any_fail, any_pass: one is enough; mean: the soft verdict."""
    tie: Tie = "half"
    """What a tie becomes: dropped, 0.5, a stored adjudicated verdict, or the worst case (fail)."""
    singles: Singles = "include"
    """Whether an item with a single usable rating has a reference."""
    unsure: Unsure = "na"
    """What "unsure" counts as, where it was asked apart from borderline."""
    info: Info = "all"
    """All ratings, or those with confidence 3 or 4."""

    def __post_init__(self) -> None:
        for field, allowed in CHOICES.items():
            if (value := getattr(self, field)) not in allowed:
                raise ValueError(f"{field} must be one of {', '.join(allowed)}, not {value!r}")
        if self.order == "map_then_agg" and self.aggregation == "plurality":
            raise ValueError("plurality counts labels: it needs order='agg_then_map', not 'map_then_agg'")
        if self.order == "agg_then_map" and self.aggregation not in AFTER_AGGREGATION:
            raise ValueError(f"{self.aggregation!r} works on verdicts: it needs order='map_then_agg'")

    @property
    def name(self) -> str:
        """A stable, readable name: equal names, equal policies."""
        parts = [self.order, f"b={self.borderline}", self.aggregation]
        if self.aggregation in TIEBREAKING:
            parts.append(f"tie={self.tie}")
        parts.append(f"singles={self.singles}")
        parts += [f"unsure={self.unsure}"] if self.unsure != "na" else []
        parts += [f"info={self.info}"] if self.info != "all" else []
        return "|".join(parts)

    @property
    def words(self) -> str:
        """The rule for people, without a capital or a full stop.

        >>> Policy(tie="drop").words
        'more than half of the labels decide; borderline counts half for each; a tie is left out; a single reviewer counts'
        """
        parts = [_DECIDES[self.order, self.aggregation], f"borderline {COUNTS[self.borderline]}"]
        if self.aggregation in TIEBREAKING:
            parts.append(f"a tie {COUNTS[self.tie]}")
        parts.append(
            "a single reviewer counts" if self.singles == "include" else "single reviewers are left out"
        )
        parts += ["unsure counts as borderline"] if self.unsure != "na" else []
        parts += ["only confident labels count"] if self.info != "all" else []
        return "; ".join(parts)

    @property
    def trivially_unanimous(self) -> bool:
        """Whether a single reviewer makes an item unanimous, which is why the policy is not admissible."""
        return self.aggregation == "unanimous" and self.singles == "include"

    def __str__(self) -> str:
        return self.name


PRIMARY = Policy()
"""The named primary policy: nothing is dropped, so coverage is the same whatever the labels."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AdmissibleSet:
    """The policies that count, and the proof of what they were."""

    policies: tuple[Policy, ...]
    """Each policy once, in the order of the file."""
    sha256: str
    """Hash of the bytes of the file."""


def admissible_policies(path: Path | None = None) -> AdmissibleSet:
    """The admissible set, written down before looking: the one that ships with the library, or a YAML file.

    Raises:
        ValueError: the file is no list of policy blocks, or names a field or value that does not exist.

    >>> len(admissible_policies().policies), admissible_policies().policies[0].name
    (52, 'map_then_agg|b=pass|majority|tie=drop|singles=include')
    """
    source = resources.files("validation") / "admissible.yaml" if path is None else path
    content = source.read_bytes()
    document = yaml.safe_load(content)
    if not isinstance(document, Mapping) or not isinstance(document.get("policies"), list):
        raise ValueError(f"{source}: no list under 'policies'")
    policies = dict.fromkeys(itertools.chain.from_iterable(map(_block, document["policies"])))
    return AdmissibleSet(policies=tuple(policies), sha256=hashlib.sha256(content).hexdigest())


def reference(
    ratings: Ratings,
    policy: Policy = PRIMARY,
    *,
    confidence: ArrayLike | None = None,
    adjudicated: ArrayLike | None = None,
) -> Floats:
    """The reference verdict of every unit under a policy: 1 pass, 0 fail, between them soft, nan not available.

    Args:
        ratings: labels in the categories fail, borderline, pass (any order; "unsure" may be a fourth).
        policy: the rule.
        confidence: (units, raters) 1 to 4, needed for info="confident"; a rating without it is not confident.
        adjudicated: (units,) settled verdicts 0, 0.5 or 1, nan where there is none; needed for tie="adjudicated".

    Raises:
        ValueError: the categories are others, or an array that the policy needs is missing or misshapen.

    >>> labels = Ratings.from_table([["pass"] * 2 + ["borderline"] * 3], categories=["fail", "borderline", "pass"])
    >>> reference(labels, Policy(borderline="drop")).tolist()
    [1.0]
    >>> reference(labels, Policy(borderline="drop", order="agg_then_map", aggregation="plurality")).tolist()
    [nan]
    """
    kinds, kind = (
        ratings.kinds if policy.info == "all" else kinds_of_items(_confident_counts(ratings, confidence))
    )
    counts = _label_counts(ratings.categories, kinds, policy)
    mapped = np.array([0.0, {"pass": 1.0, "fail": 0.0, "drop": np.nan, "half": 0.5}[policy.borderline], 1.0])
    aggregate = _aggregate_verdicts if policy.order == "map_then_agg" else _aggregate_labels
    verdict, tied, usable = aggregate(counts, mapped, policy)
    enough = usable >= (2 if policy.singles == "exclude" else 1)
    found = np.where(enough & ~tied, verdict, np.nan)[kind]
    open_to_settling = (enough & tied)[kind]
    found[open_to_settling] = _settled(policy, adjudicated, len(ratings.units))[open_to_settling]
    return found


def _block(block: Any) -> Iterable[Policy]:
    if not isinstance(block, Mapping) or set(block) - set(CHOICES):
        raise ValueError(f"a policy block has the fields {', '.join(CHOICES)}; found {block!r}")
    lists = {field: values if isinstance(values, list) else [values] for field, values in block.items()}
    for choice in itertools.product(*lists.values()):
        yield Policy(**dict(zip(lists, choice, strict=True)))


def _label_counts(
    categories: Sequence[Hashable], given: NDArray[np.int64], policy: Policy
) -> NDArray[np.int64]:
    """(kinds, 3): how many ratings that count are a fail, a borderline, a pass."""
    strange = [label for label in categories if label not in LABELS]
    if strange or not {"fail", "pass"} <= set(categories):
        raise ValueError(
            f"the categories must be fail, borderline, pass (and unsure), not {tuple(categories)!r}"
        )
    counts = np.zeros((len(given), 3), dtype=np.int64)
    for label, of_label in zip(categories, given.T, strict=True):
        counts_as = policy.unsure if label == "unsure" else label
        if counts_as in LABELS[:3]:
            counts[:, LABELS.index(str(counts_as))] += of_label
    return counts


def _confident_counts(ratings: Ratings, confidence: ArrayLike | None) -> NDArray[np.int64]:
    """(units, categories): how many confident ratings put a unit into a category."""
    if confidence is None:
        raise ValueError("info='confident' needs the confidence of every rating")
    certain = np.asarray(confidence, dtype=np.float64)
    if certain.shape != ratings.codes.shape:
        raise ValueError(
            f"confidence {certain.shape} must have the shape of the ratings {ratings.codes.shape}"
        )
    codes = np.where(certain >= CONFIDENT, ratings.codes, MISSING)
    return np.stack([(codes == k).sum(axis=1) for k in range(len(ratings.categories))], axis=1)


def _settled(policy: Policy, adjudicated: ArrayLike | None, n_units: int) -> Floats:
    if policy.tie != "adjudicated":
        return np.full(n_units, {"drop": np.nan, "half": 0.5, "worst": 0.0}[policy.tie])
    if adjudicated is None:
        raise ValueError("tie='adjudicated' needs the adjudicated verdicts")
    settled = np.asarray(adjudicated, dtype=np.float64)
    if settled.shape != (n_units,):
        raise ValueError(f"adjudicated {settled.shape} must have one verdict for each of {n_units} units")
    return settled


Aggregated = tuple[Floats, NDArray[np.bool_], NDArray[np.int64]]
"""(kinds,) the verdict, whether it is a tie, and the ratings that it rests on."""


def _aggregate_verdicts(counts: NDArray[np.int64], mapped: Floats, policy: Policy) -> Aggregated:
    kept = ~np.isnan(mapped)
    counts, mapped = counts[:, kept], mapped[kept]
    usable = np.asarray(counts.sum(axis=1), dtype=np.int64)
    total = counts @ mapped
    lowest = np.where(counts > 0, mapped, 1).min(axis=1, initial=1)
    highest = np.where(counts > 0, mapped, 0).max(axis=1, initial=0)
    tied = np.zeros(len(counts), dtype=np.bool_)
    match policy.aggregation:
        case "majority":
            verdict, tied = (2 * total > usable).astype(np.float64), 2 * total == usable
        case "unanimous":
            verdict = np.where((lowest == highest) & (lowest != 0.5), lowest, np.nan)
        case "any_fail":
            verdict = lowest
        case "any_pass":
            verdict = highest
        case _:
            verdict = total / np.maximum(usable, 1)
    return verdict, tied, usable


def _aggregate_labels(counts: NDArray[np.int64], mapped: Floats, policy: Policy) -> Aggregated:
    usable = counts.sum(axis=1)
    most = counts.max(axis=1)
    verdict = mapped[counts.argmax(axis=1)]
    tied = np.zeros(len(counts), dtype=np.bool_)
    match policy.aggregation:
        case "plurality":
            tied = (counts == most[:, None]).sum(axis=1) > 1
        case "majority":
            tied = 2 * most <= usable
        case _:
            verdict = np.where((most == usable) & (verdict != 0.5), verdict, np.nan)
    return verdict, tied, usable
