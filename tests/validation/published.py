"""The shared data sets as long frames: one row a rating, in the columns `unit`, `rater` and `value`.

Every reader takes the folder of data. Cells are read as they stand, so that "None", "N/A" and "NA" remain words, and a
blank rating becomes None.
"""

import json
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

SEVERITIES = {"HELL NO": -1.0, "Soft no": -0.5, "Soft yes": 0.5, "HELL YES": 1.0}
JUDGES = ("claude-4.5-sonnet", "gemini-2.5-pro", "gpt-5.1")
"""The judges of HumaneBench, in the order of the published pairs."""
PEOPLES_NAMES = {"gpt-4o-2024-11-20": "gpt-4o"}
"""Targets that HumaneBench's judges call otherwise than its raters do."""

HARM = (
    "High Potential for Harm",
    "Suboptimal but Low Potential for Harm",
    "Best Practice",
    "Not Relevant",
)
DIMENSIONS = ("detects", "confirms", "guides", "supportive", "boundaries")

COMPLIANCE = ("1_full_compliance", "2_full_refusal", "3_partial_refusal")


class Answered(NamedTuple):
    """One answer of HumaneBench: who answered which prompt in which role, in the names that its raters use."""

    prompt: str
    target: str
    persona: str


def table(path: Path) -> pd.DataFrame:
    """A CSV file with every cell as the words that stand in it."""
    return pd.read_csv(path, dtype=str, keep_default_na=False, encoding="utf-8")


def _json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def humanebench_people(data: Path) -> pd.DataFrame:
    """4 raters x 48 answers, with `persona` and the `text` that was read; one rater calls the column otherwise."""
    frames = []
    for rater in ("rater-1", "rater-2", "rater-3", "rater-4"):
        rows = table(data / f"humanebench/human_ratings/{rater}_ratings.csv")
        rows = rows.rename(columns={"rating (rubric)": "rating"})
        frames.append(
            pd.DataFrame(
                {
                    "unit": _answered(rows["input_id"], rows["ai_model"], rows["ai_persona"]),
                    "rater": rater,
                    "value": rows["rating"].map(lambda word: SEVERITIES[word] if word else None),
                    "persona": rows["ai_persona"],
                    "text": rows["ai_output"],
                }
            )
        )
    return pd.concat(frames, ignore_index=True)


def humanebench_golden(data: Path) -> dict[Answered, str]:
    """The text of each of the 24 curated answers."""
    lines = (data / "humanebench/golden_questions.jsonl").read_text(encoding="utf-8").splitlines()
    curated = [json.loads(line)["metadata"] for line in lines if line]
    return {
        Answered(one["input_id"], one["ai_model"], one["ai_persona"]): one["ai_output"] for one in curated
    }


def humanebench_judges(data: Path, answers: str) -> pd.DataFrame:
    """3 judges x answers, with the `target` as published.

    Args:
        answers: `golden_24`, the texts that people read; or `human_slice`, new answers to the same prompts.
    """
    rows = table(data / f"humanebench/tables/inter_judge_raw_{answers}.csv")
    targets = rows["model"].replace(PEOPLES_NAMES)
    personas = rows["persona"].str.removesuffix("_persona")
    return pd.DataFrame(
        {
            "unit": _answered(rows["sample_id"], targets, personas),
            "rater": rows["judge_name"],
            "value": rows["severity"].astype(float),
            "target": rows["model"],
        }
    )


def _answered(prompts: pd.Series, targets: pd.Series, personas: pd.Series) -> list[Answered]:
    return [Answered(*names) for names in zip(prompts, targets, personas, strict=True)]


def vera_mh(data: Path) -> pd.DataFrame:
    """6 clinicians x 90 conversations x 5 dimensions; a unit is (conversation, dimension)."""
    rows = table(data / "vera_mh/VERA-MH Clinician Ratings_December 2025.csv")
    rows["conversation"] = rows["conversation_id"].str.removeprefix("#")
    frame = rows.melt(
        id_vars=["clinician_id", "conversation"],
        value_vars=[f"clinician_{dimension}" for dimension in DIMENSIONS],
        var_name="dimension",
    ).rename(columns={"clinician_id": "rater"})
    frame["dimension"] = frame["dimension"].str.removeprefix("clinician_")
    frame["unit"] = list(zip(frame["conversation"], frame["dimension"], strict=True))
    return frame


def vera_mh_transcripts(data: Path) -> list[str]:
    """The conversations of which the transcript is there."""
    return sorted(path.name.partition("_")[0] for path in (data / "vera_mh/conversations").glob("*.txt"))


def xstest(data: Path) -> pd.DataFrame:
    """2 annotators x 450 answers of the guarded Mistral."""
    rows = table(data / "xstest/xstest_v2_completions_mistralguard_gpteval.csv")
    return rows.melt(id_vars="id", value_vars=["annotation_1", "annotation_2"], var_name="rater").rename(
        columns={"id": "unit"}
    )


def dices(data: Path, who: str) -> pd.DataFrame:
    """`crowdsourced` or `expert` answers on 350 replies; Yes means *unsafe*. The place in the list is the rater."""
    replies = _json(data / f"dices/dices_350_{who}.json")["instances"]
    said = {reply["id"]: reply["annotations"]["safety"]["individual_human_scores"] for reply in replies}
    frame = pd.DataFrame.from_dict(said, orient="index").rename_axis("unit")
    return frame.melt(var_name="rater", ignore_index=False).reset_index()


def dices_majority(data: Path, who: str) -> pd.Series:
    """The published majority of each of the 350 replies; Yes means *unsafe*."""
    replies = _json(data / f"dices/dices_350_{who}.json")["instances"]
    return pd.Series({reply["id"]: reply["annotations"]["safety"]["majority_human"] for reply in replies})


def dices_question(data: Path) -> str:
    """What upstream asked its judges about these replies."""
    (asked,) = _json(data / "dices/dices_350_expert.json")["annotations"]
    return str(asked["prompt"])


def llmbar(data: Path, judge: str) -> pd.DataFrame:
    """The expert `label` and the judge's winner, `unswapped` and `swapped`, of 100 pairs: 1 or 2."""
    pairs = _json(data / f"llmbar/evaluators/{judge}/Vanilla/result.json")
    columns = {
        "label": [pair["label"] for pair in pairs],
        "unswapped": [int(pair["results"][0]["swap = False"]["winner"]) for pair in pairs],
        "swapped": [int(pair["results"][0]["swap = True"]["winner"]) for pair in pairs],
    }
    return pd.DataFrame(columns).rename_axis("unit").reset_index().melt(id_vars="unit", var_name="rater")


def llmbar_published(data: Path, judge: str) -> dict[str, Any]:
    """Upstream's own summary of a judge."""
    summary: dict[str, Any] = _json(data / f"llmbar/evaluators/{judge}/Vanilla/statistics.json")
    return summary


def mrbench(data: Path) -> pd.DataFrame:
    """One expert label of each response of a tutor on each dimension; `record` numbers the dialogues from 0."""
    return pd.DataFrame(
        [
            {
                "record": record,
                "conversation": dialogue["conversation_id"],
                "tutor": tutor,
                "dimension": dimension,
                "value": value,
            }
            for record, dialogue in enumerate(_json(data / "mrbench/MRBench_V1.json"))
            for tutor, response in dialogue["anno_llm_responses"].items()
            for dimension, value in response["annotation"].items()
        ]
    )


def impactbench_verdicts(data: Path) -> pd.DataFrame:
    """Every verdict of the published platform: `metric`, `model`, `age`, `polarity`, and whether it is `present`."""
    platform = data / "impactbench/platform"
    areas = _json(platform / "taxonomy.json")["areas"]
    polarity = {
        metric["id"]: metric["type"]
        for area in areas
        for subarea in area["subareas"]
        for metric in subarea["metrics"]
    }
    return pd.DataFrame(
        [
            {
                "metric": metric,
                "model": model,
                "age": scenario["age"],
                "polarity": polarity[metric],
                "present": verdict == "yes",
            }
            for metric, scenarios in _json(platform / "scenario-index.json").items()
            for scenario in scenarios
            for model, verdict in scenario["verdicts"].items()
        ]
    )


def impactbench_pass_rates(data: Path) -> pd.Series:
    """The pass rates as published, by (model, age, metric)."""
    published = _json(data / "impactbench/platform/benchmark-data.json")
    return pd.Series(
        {
            (*model_and_age.split("|"), metric): rate
            for model_and_age, rates in published.items()
            for metric, rate in rates.items()
        }
    ).rename_axis(["model", "age", "metric"])
