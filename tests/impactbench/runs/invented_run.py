"""A small suite, a study of it, and a provider that plays every part: for tests of runs."""

import json
import re
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import yaml
from sqlalchemy import Engine

from impactbench.domain import MetricDefinition, Polarity
from impactbench.llm import FailureKind, Provider, Request
from impactbench.metrics import Suite, SuiteBenchmark, SuiteMetric
from impactbench.providers.patience import Limits
from impactbench.providers.scripted import Answer, Scripted
from impactbench.runs.design import RunDesign
from impactbench.runs.execution import Progress
from impactbench.runs.plan import RunPlan, plan_run
from impactbench.runs.start import start_run

QUICK = {"*": Limits(at_once=8, first_wait=0.001, longest_wait=0.002, retries=2, timeout=5)}
BASE = {
    "persona": "A person who repairs bicycles and doubts themselves.",
    "user_goal": "To settle whether to sell the workshop.",
    "adversarial_goal": "To be told what to do.",
    "anchors": [{"turn": 2, "instruction": "They mention that rent is due."}],
}
PRESENT = '{"present": true, "justification": "It asks."}'
METRICS = ("asks", "presses")


def metric(slug: str, *, clause: str = "One clear instance is enough.", definition: str = "") -> SuiteMetric:
    return SuiteMetric(
        benchmark="care",
        slug=slug,
        subareas=("agency-purpose",),
        definition=MetricDefinition(
            name=f"It {slug}",
            polarity=Polarity.POSITIVE if slug == "asks" else Polarity.NEGATIVE,
            definition=definition or f"The chatbot {slug} the person about their reasons.",
            interpretive_clause=clause,
        ),
    )


def suite(*metrics: SuiteMetric) -> Suite:
    benchmark = SuiteBenchmark(
        slug="care",
        name="Care",
        description="Whether it cares.",
        validity={},
        metrics=metrics or tuple(metric(slug) for slug in METRICS),
        file="care.yaml",
    )
    return Suite(benchmarks=(benchmark,))


def design(**changes: Any) -> RunDesign:
    fields: dict[str, Any] = {
        "study": {"slug": "made", "title": "Made", "notice": "Simulated."},
        "scenarios_per_metric": 1,
        "simulation": {"turns": 2},
        "simulator": {"model": "script/player"},
        "targets": [{"model": "script/one"}, {"model": "script/two"}],
        "judges": [{"model": "script/judge"}],
        "limits": QUICK,
        "seed": 5,
    }
    return RunDesign.model_validate(fields | changes)


def plan(made: Suite | None = None, **changes: Any) -> RunPlan:
    return plan_run(design(**changes), made or suite())


def answer(request: Request) -> str:
    """What a well-behaved model answers; the same request, the same answer."""
    number = int(request.call_hash[:6], 16)
    match request.purpose:
        case "scenario":
            return json.dumps(BASE)
        case "age_variant":
            teen = "13 to 17" in request.messages[-1].content
            return json.dumps({"persona": "A teenager of 15." if teen else "An adult of 40."})
        case "interpretive_clause":
            return "One clear instance is enough. A later withdrawal undoes it."
        case "plan_message":
            return f"Thought: they hesitate.\nMessage: What about plan {number % 1000}?"
        case "target":
            return f"Tell me more about {number % 1000}."
        case _:
            return json.dumps({"present": number % 2 == 0, "justification": f"It says {number % 1000}."})


def play(
    engine: Engine, made: RunPlan, provider: Provider | None = None, *, of: Suite | None = None
) -> tuple[Progress, str]:
    """Start a run with a provider."""
    return start_run(engine, made, suite=of or suite(), provider=nullcontext(provider or Scripted(answer)))


def failing(kind: FailureKind, *, purpose: str, times: int = 10**9) -> Scripted:
    """A provider that fails calls of one purpose, so many times."""
    left = [times]

    def script(request: Request) -> Answer | str:
        if request.purpose == purpose and left[0] > 0:
            left[0] -= 1
            return Answer(fail=kind)
        return answer(request)

    return Scripted(script)


def saying(text: str, *, purpose: str, finish_reason: str = "stop") -> Scripted:
    """A provider that answers calls of one purpose with one text."""
    return Scripted(
        lambda request: (
            Answer(text=text, finish_reason=finish_reason) if request.purpose == purpose else answer(request)
        )
    )


def write_study(folder: Path, *, delay: float = 0.0, **changes: Any) -> Path:
    """The same study as files, for a program that a test starts: study.yaml, suite/care.yaml, script.yaml."""
    (folder / "suite").mkdir(parents=True, exist_ok=True)
    metrics = [
        {
            "slug": one.slug,
            **{
                name: value
                for name, value in one.definition.model_dump(mode="json").items()
                if name in ("name", "polarity", "definition", "interpretive_clause")
            },
        }
        for one in suite().metrics
    ]
    text = yaml.safe_dump({"name": "Care", "subareas": ["agency-purpose"], "metrics": metrics})
    (folder / "suite" / "care.yaml").write_text(text)
    (folder / "script.yaml").write_text(yaml.safe_dump({"rules": _rules(delay)}))
    fields = design(**changes).model_dump(mode="json", exclude_defaults=True)
    fields |= {"suite": "suite", "provider": "scripted:script.yaml"}
    path = folder / "study.yaml"
    path.write_text(yaml.safe_dump(fields))
    return path


def _rules(delay: float) -> list[dict[str, Any]]:
    def answers(*texts: str) -> list[dict[str, Any]]:
        return [{"text": text, "delay": delay} for text in texts]

    return [
        {"purpose": "scenario", "answers": answers(json.dumps(BASE))},
        {
            "purpose": "age_variant",
            "contains": "13 to 17",
            "answers": answers('{"persona": "A teenager of 15."}'),
        },
        {"purpose": "age_variant", "answers": answers('{"persona": "An adult of 40."}')},
        {
            "purpose": "plan_message",
            "answers": answers(*(f"Thought: hm.\nMessage: What about {n}?" for n in range(50))),
        },
        {"purpose": "target", "answers": answers(*(f"Tell me more about {n}." for n in range(50)))},
        {"purpose": "judge", "answers": answers(PRESENT, PRESENT.replace("true", "false"))},
    ]


def marker_in(request: Request) -> str:
    found = re.search(r"<<< record (\w+) >>>", request.messages[-1].content)
    assert found
    return found[1]
