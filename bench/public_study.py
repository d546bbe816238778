"""A synthetic study of the published study's size: 809 metrics, 26 benchmarks, 48,540 conversations, written in bulk."""

import numpy as np
from sqlalchemy import Engine, insert

from impactbench.domain import AgeVariant, Polarity
from impactbench.store import tables as t
from impactbench.store.engine import writing

METRICS, BENCHMARKS, SUBAREAS, MODELS, BASES = 809, 26, 14, 10, 3
CONVERSATIONS = METRICS * BASES * 2 * MODELS
STUDY = "large"
TURNS = [{"role": role, "content": "word " * 80} for _ in range(6) for role in ("user", "assistant")]


def fill(engine: Engine) -> None:
    """A study of the published size, written in bulk."""
    draws = np.random.default_rng(1)
    now = t.now()
    scenarios = [(m, base, age) for m in range(METRICS) for base in range(BASES) for age in AgeVariant]
    talks = [(s, model) for s in range(len(scenarios)) for model in range(MODELS)]
    present = draws.random(len(talks)) < 0.7
    rows: list[tuple[type[t.Table], list[dict[str, object]]]] = [
        (t.Study, [{"id": 1, "slug": STUDY, "title": STUDY, "notice": "", "created_at": now}]),
        (t.Run, [{"id": 1, "study_id": 1, "slug": "first", "manifest": {}, "created_at": now}]),
        (
            t.Benchmark,
            [{"id": b + 1, "slug": f"b{b}", "name": f"B{b}", "description": ""} for b in range(BENCHMARKS)],
        ),
        (
            t.Subarea,
            [
                {"id": k + 1, "slug": f"s{k}", "domain": f"Domain {k % 3}", "name": f"Subarea {k}"}
                for k in range(SUBAREAS)
            ],
        ),
        (
            t.Model,
            [
                {"id": k + 1, "slug": f"model-{k}", "provider": "", "family": f"f{k % 4}"}
                for k in range(MODELS)
            ],
        ),
        (t.Judge, [{"id": 1, "model_id": 1, "prompt_hash": "", "parameters": {}, "parameters_hash": ""}]),
        (
            t.Metric,
            [{"id": m + 1, "benchmark_id": m % BENCHMARKS + 1, "slug": f"m{m}"} for m in range(METRICS)],
        ),
        (t.Placement, [{"metric_id": m + 1, "subarea_id": m % SUBAREAS + 1} for m in range(METRICS)]),
        (
            t.MetricVersion,
            [
                {
                    "id": m + 1,
                    "metric_id": m + 1,
                    "version": 1,
                    "name": f"Metric {m}",
                    "polarity": Polarity.POSITIVE if m % 7 < 4 else Polarity.NEGATIVE,
                    "definition": "It happens.",
                    **dict.fromkeys(("interpretive_clause", "question", "evidence", "changed_because"), ""),
                    "content_hash": "",
                    "created_at": now,
                }
                for m in range(METRICS)
            ],
        ),
        (
            t.Scenario,
            [
                {
                    "id": k + 1,
                    "metric_version_id": m + 1,
                    "slug": f"s{base}_{age}",
                    "base_scenario": f"s{base}",
                    "age": age,
                    "content_hash": "",
                    **dict.fromkeys(("persona", "user_goal", "adversarial_goal", "system_prompt"), ""),
                }
                for k, (m, base, age) in enumerate(scenarios)
            ],
        ),
        (
            t.Conversation,
            [
                {
                    "id": k + 1,
                    "run_id": 1,
                    "key": f"c{k}",
                    "scenario_id": s + 1,
                    "model_id": model + 1,
                    "turns": TURNS,
                    "content_hash": "",
                    "created_at": now,
                }
                for k, (s, model) in enumerate(talks)
            ],
        ),
        (
            t.Judgment,
            [
                {
                    "conversation_id": k + 1,
                    "metric_version_id": scenarios[s][0] + 1,
                    "judge_id": 1,
                    "present": bool(present[k]),
                    "justification": "because " * 20,
                    "raw_reply": "",
                    "created_at": now,
                }
                for k, (s, _) in enumerate(talks)
            ],
        ),
    ]
    with writing(engine) as session:
        for table, several in rows:
            session.execute(insert(table), several)
