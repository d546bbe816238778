"""What a run will take: calls, tokens, money, time. From what calls of the run took so far, else from typical lengths."""

from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from impactbench.prompts import prompt
from impactbench.runs.plan import RunPlan
from impactbench.runs.state import Left
from impactbench.runs.unit_keys import ModelCall

CHARACTERS_PER_TOKEN = 4
ENOUGH_CALLS = 20
"""From so many calls of a kind on, their mean is better than a typical length."""
TYPICAL_SECONDS = 3.0
EMBEDDED_TOKENS_PER_SECOND = 160
"""Of the embedded model, in and out, on one core; its calls share the cores, so side by side they are no faster."""
_MESSAGE, _REPLY, _PLANNED, _VERDICT = 35, 220, 90, 90
_WRITTEN = {"scenario": 260, "age_variant": 80, "interpretive_clause": 130}
_PERSONA = 220

PriceOf = Callable[[str], tuple[float, float] | None]
"""US dollars per token in and out of a model; None where that is not known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """Calls of one purpose to one model."""

    purpose: str
    model: str
    calls: int
    tokens_in: int
    tokens_out: int
    usd: float | None
    """None where the price is not known: unknown, which is not free."""
    seconds: float
    observed: bool
    """Whether it rests on calls of this run, rather than on typical lengths."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """What is left of a run, by purpose and model."""

    lines: tuple[Line, ...]
    minutes: float

    @property
    def calls(self) -> int:
        return sum(line.calls for line in self.lines)

    @property
    def tokens(self) -> int:
        return sum(line.tokens_in + line.tokens_out for line in self.lines)

    @property
    def usd(self) -> float:
        """Of the models whose price is known."""
        return sum(line.usd or 0.0 for line in self.lines)

    @property
    def unpriced(self) -> tuple[str, ...]:
        """Models whose price is not known."""
        return tuple(sorted({line.model for line in self.lines if line.usd is None}))


def estimate(
    plan: RunPlan, left: Left, *, spent: pd.DataFrame, price_of: PriceOf, there: Collection[str] = ()
) -> Estimate:
    """What is left of a plan will take about this.

    Args:
        plan: of the run.
        left: of the plan.
        spent: what calls took so far, as `run_frames.spent` gives it.
        price_of: the price of a model.
        there: keys of base scenarios that other runs will have written by then.
    """
    seen = {(row["purpose"], row["model"]): row for row in spent.to_dict("records")}
    lines = tuple(
        _line(purpose, model, calls, _capped(plan, model, tokens), seen.get((purpose, model)), price_of)
        for (purpose, model), (calls, tokens) in _calls(plan, left, there).items()
        if calls
    )
    return Estimate(lines=lines, minutes=_minutes(plan, lines))


def in_all(estimates: Sequence[Estimate]) -> Estimate:
    """What runs take together, one after another: their calls by purpose and model, and their time."""
    same: dict[tuple[str, str], list[Line]] = {}
    for line in (line for each in estimates for line in each.lines):
        same.setdefault((line.purpose, line.model), []).append(line)
    lines = tuple(
        Line(
            purpose=purpose,
            model=model,
            calls=sum(line.calls for line in of),
            tokens_in=sum(line.tokens_in for line in of),
            tokens_out=sum(line.tokens_out for line in of),
            usd=None if any(line.usd is None for line in of) else sum(line.usd or 0.0 for line in of),
            seconds=sum(line.seconds for line in of),
            observed=all(line.observed for line in of),
        )
        for (purpose, model), of in same.items()
    )
    return Estimate(lines=lines, minutes=sum(each.minutes for each in estimates))


def _calls(
    plan: RunPlan, left: Left, there: Collection[str]
) -> dict[tuple[str, str], tuple[int, tuple[float, float]]]:
    """By purpose and model: how many calls, and typical tokens of one, in and out."""
    design, typical = plan.design, _typical_tokens(plan)
    turns, targets, judges = design.simulation.turns, len(design.targets), len(design.judges)
    writer = design.writer.model
    bases = left.scenarios / len(design.ages)
    unwritten = 0.0 if plan.written else _unwritten(plan, left) * _absent(plan, there)
    found: dict[tuple[str, str], tuple[int, tuple[float, float]]] = {}

    def add(purpose: str, model: str, calls: float) -> None:
        before = found.get((purpose, model), (0, typical[purpose]))[0]
        found[purpose, model] = (before + round(calls), typical[purpose])

    share = left.scenarios / plan.counts.scenario if plan.counts.scenario else 0
    add("interpretive_clause", writer, plan.counts.clause * share)
    add("scenario", writer, bases * unwritten)
    add("age_variant", writer, left.scenarios * unwritten)
    add("plan_message", design.simulator.model, left.conversations * turns)
    for target in design.targets:
        add("target", target.model, left.conversations * turns / targets)
    for judge in design.judges:
        add("judge", judge.model, left.judgments / judges)
    return found


def _unwritten(plan: RunPlan, left: Left) -> float:
    """The share of scenarios with work left that have yet to be written, judged by their conversations."""
    targets = left.scenarios * len(plan.design.targets)
    return 1.0 if not targets or left.conversations >= targets else 0.0


def _absent(plan: RunPlan, there: Collection[str]) -> float:
    """The share of base scenarios that no other run has written."""
    if not there:
        return 1.0
    keys = [unit.key for unit in plan.scenarios()]
    return sum(key not in there for key in keys) / max(len(keys), 1)


def _typical_tokens(plan: RunPlan) -> Mapping[str, tuple[float, float]]:
    turns = plan.design.simulation.turns
    exchange = _MESSAGE + _REPLY
    so_far = exchange * (turns - 1) / 2
    definition = sum(
        len(metric.definition.definition) + len(metric.definition.interpretive_clause)
        for metric in plan.metrics
    ) / (CHARACTERS_PER_TOKEN * max(len(plan.metrics), 1))

    def said(name: str) -> float:
        return len(prompt(name).text) / CHARACTERS_PER_TOKEN

    plan_message = (said("simulated_user") + _PERSONA + definition + so_far, _PLANNED)
    if plan.design.simulation.style == "screenplay":
        plan_message = (said("screenplay") + _PERSONA + so_far, _MESSAGE)
    written = {name: (said(name) + definition, float(tokens)) for name, tokens in _WRITTEN.items()}
    return {
        **written,
        "plan_message": plan_message,
        "target": (so_far + _MESSAGE, _REPLY),
        "judge": (said("judge") + definition + exchange * turns * 1.1, _VERDICT),
    }


def _capped(plan: RunPlan, model: str, tokens: tuple[float, float]) -> tuple[float, float]:
    most = plan.design.models[model].parameters.get("max_tokens")
    return (tokens[0], min(tokens[1], float(most))) if most else tokens


def _line(
    purpose: str,
    model: str,
    calls: int,
    tokens: tuple[float, float],
    seen: Mapping[Hashable, Any] | None,
    price_of: PriceOf,
) -> Line:
    seconds, observed = TYPICAL_SECONDS, False
    if seen is not None and seen["calls"] >= ENOUGH_CALLS:
        observed, made = True, seen["calls"]
        tokens, seconds = (seen["tokens_in"] / made, seen["tokens_out"] / made), seen["seconds"] / made
    elif ModelCall(model=model).is_embedded:
        seconds = sum(tokens) / EMBEDDED_TOKENS_PER_SECOND
    price = price_of(model)
    usd = None if price is None else calls * (tokens[0] * price[0] + tokens[1] * price[1])
    return Line(
        purpose=purpose,
        model=model,
        calls=calls,
        tokens_in=round(calls * tokens[0]),
        tokens_out=round(calls * tokens[1]),
        usd=usd,
        seconds=calls * seconds,
        observed=observed,
    )


def _minutes(plan: RunPlan, lines: tuple[Line, ...]) -> float:
    """The busiest provider decides: by how long its calls take side by side, and by what it allows a minute."""
    minutes = [0.0]
    providers = {ModelCall(model=line.model).provider for line in lines}
    for provider in providers:
        own = [line for line in lines if ModelCall(model=line.model).provider == provider]
        limits = plan.design.limits_of(provider)
        minutes.append(sum(line.seconds / _side_by_side(line, limits.at_once) for line in own) / 60)
        if limits.requests_per_minute:
            minutes.append(sum(line.calls for line in own) / limits.requests_per_minute)
        if limits.tokens_per_minute:
            minutes.append(sum(line.tokens_in + line.tokens_out for line in own) / limits.tokens_per_minute)
    return max(minutes)


def _side_by_side(line: Line, at_once: int) -> int:
    """By how many calls at once the seconds of a line are shared out; seconds that were observed had the others beside them."""
    return 1 if ModelCall(model=line.model).is_embedded and not line.observed else at_once
