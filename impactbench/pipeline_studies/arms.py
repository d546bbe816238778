"""A study file that varies the pipeline itself, as one run an arm: same scenarios, same targets, one thing changed."""

import re
from typing import Any, get_args

import pandas as pd
from sqlalchemy import Engine

from impactbench.domain import ImpactBenchError
from impactbench.runs.design import Budget, RunDesign, Switch
from impactbench.runs.unit_keys import ModelCall
from impactbench.store import run_frames

SWITCHES: tuple[Switch, ...] = get_args(Switch)
ALL_ON = "all on"
_UNFIT = re.compile(r"[^a-z0-9._-]+")


class ArmsRefused(ImpactBenchError):
    """A study of the pipeline whose arms cannot be made or compared."""


def arms_of(design: RunDesign) -> tuple[RunDesign, ...]:
    """The run of each arm and repetition; the design itself where it varies nothing.

    A budget is shared out evenly, so that all arms together keep to it.

    Raises:
        ArmsRefused: the arms would not differ in what the study says.
    """
    study = design.pipeline_study
    if study is None:
        return (design,)
    if bool(study.switch_off) == bool(study.simulators):
        raise ArmsRefused("pipeline_study: say either what to `switch_off` or which `simulators` to try")
    arms = _ablations(design, study.switch_off) if study.switch_off else _candidates(design, study.simulators)
    budget = _share(design.budget, len(arms) * study.repetitions)
    return tuple(
        design.model_copy(
            update={
                **changes,
                "run": f"{design.run}.{name}.{repetition}",
                "seed": design.seed + repetition - 1,
                "budget": budget,
                "pipeline_study": None,
            }
        )
        for repetition in range(1, study.repetitions + 1)
        for name, changes in arms.items()
    )


def switched_off(engine: Engine, study: str) -> pd.DataFrame:
    """The arms of a study that differ in which part of the simulation is off: run_id, run, off (`all on` where none of
    the parts that differ is), seed.

    Raises:
        ArmsRefused: the study has no arm with all on, or none with one part off, or its arms differ in other things.
    """
    runs = run_frames.designs(engine, study)
    settings = [each["simulation"] for each in runs["design"]]
    varied = [switch for switch in SWITCHES if len({each[switch] for each in settings}) > 1]
    off = [[switch for switch in varied if not each[switch]] for each in settings]
    runs["off"] = [", ".join(names) or ALL_ON for names in off]
    runs["seed"] = [each["seed"] for each in runs["design"]]
    runs = runs[[len(names) < 2 for names in off]] if off else runs
    if ALL_ON not in set(runs["off"]) or len(set(runs["off"])) < 2:
        raise ArmsRefused(
            f"the study {study!r} has no arms to compare: it takes a run with all parts of the simulation on and one"
            " with a part off, as `pipeline_study: {switch_off: [anchors]}` in a study file makes them"
        )
    if len({_besides(each) for each in runs["design"]}) > 1:
        raise ArmsRefused(
            f"the arms of the study {study!r} differ in more than one part of the simulation, so a difference would not"
            " say what made it: start them from one study file, under a `study.slug` of their own"
        )
    return runs[["run_id", "run", "off", "seed"]].reset_index(drop=True)


def _ablations(design: RunDesign, switches: tuple[Switch, ...]) -> dict[str, dict[str, Any]]:
    if absent := [switch for switch in switches if not getattr(design.simulation, switch)]:
        raise ArmsRefused(
            f"pipeline_study.switch_off: {absent[0]} is off in `simulation` already: leave it on there, or out here"
        )
    if "adversarial_guidance" in switches and design.simulation.style == "screenplay":
        raise ArmsRefused(
            "pipeline_study.switch_off: a simulation in the style `screenplay` has no adversarial_guidance to switch off"
        )
    arms: dict[str, dict[str, Any]] = {"all-on": {}}
    for switch in switches:
        changed = design.simulation.model_copy(update={switch: False})
        arms[f"without-{switch}"] = {"simulation": changed}
    return arms


def _candidates(design: RunDesign, simulators: tuple[ModelCall, ...]) -> dict[str, dict[str, Any]]:
    """Scenarios are written by the same author for all. Raters say how real a candidate seems, so nothing is judged."""
    arms: dict[str, dict[str, Any]] = {
        f"simulator-{_UNFIT.sub('-', one.slug.lower())}": {
            "simulator": one,
            "author": design.writer,
            "repeats": 0,
        }
        for one in simulators
    }
    if len(arms) < len(simulators) or len(arms) < 2:
        raise ArmsRefused(
            "pipeline_study.simulators: there must be two or more, and each of a name of its own; give one a `name`"
        )
    return arms


def _share(budget: Budget, arms: int) -> Budget:
    return Budget(
        usd=None if budget.usd is None else budget.usd / arms,
        calls=None if budget.calls is None else max(1, budget.calls // arms),
        tokens=None if budget.tokens is None else max(1, budget.tokens // arms),
    )


def _besides(design: dict[str, Any]) -> str:
    """All of a design that shapes results, but what arms vary."""
    names = ("metrics", "scenarios_per_metric", "ages", "system_prompt", "author", "simulator", "targets")
    simulation = {name: value for name, value in design["simulation"].items() if name not in SWITCHES}
    return repr([*(design[name] for name in (*names, "judges", "repeats")), sorted(simulation.items())])
