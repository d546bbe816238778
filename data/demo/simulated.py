"""What the simulated judge and raters say of the conversations of the demo study."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import numpy as np
from planted import JUDGE, LABELS, NOTES, ORDER, Planted, Truth, generator_of, raters_of

from impactbench.domain import LabelVerdict


def judge_all(
    planted: Sequence[Planted], *, truth: Truth, notes: dict[str, Any]
) -> dict[str, list[dict[str, Any]]]:
    """What the judge says of each conversation, once for each repeat."""
    judge, generator = truth["judge"], generator_of(truth, JUDGE)
    readings, models = truth["present_under"], truth["models"]
    present = {
        item.key: judge[item.metric] in readings[item.key] if item.key in readings else item.present
        for item in planted
    }
    errs: dict[tuple[str, str, str], list[str]] = {}
    unstable: dict[str, list[str]] = {}
    for item in planted:
        whose = "own_family" if models[item.model]["family"] == judge["family"] else "other_family"
        error = "false_fail" if item.passes(present[item.key]) else "false_pass"
        errs.setdefault((item.metric, error, whose), []).append(item.key)
        unstable.setdefault(item.metric, []).append(item.key)
    wrong = {
        key
        for (_, error, whose), keys in errs.items()
        for key in _dealt(generator, keys, share=judge[error][whose])
    }
    flips = {
        key
        for metric, keys in unstable.items()
        for key in _dealt(generator, keys, share=judge["flip"][metric])
    }
    scores: dict[str, list[dict[str, Any]]] = {}
    for item in planted:
        odd_one = int(generator.integers(1, judge["repeats"]))  # the first run is the one that was deployed
        words = generator.permutation(4)
        scores[item.key] = [
            _score(
                item,
                present=present[item.key] ^ (item.key in wrong) ^ (item.key in flips and repeat == odd_one),
                repeat=repeat,
                texts=notes[item.metric]["judge"],
                word=int(words[repeat]),
            )
            for repeat in range(judge["repeats"])
        ]
    return scores


def _dealt(generator: np.random.Generator, keys: Sequence[str], *, share: float) -> list[str]:
    """So many of the keys as the share says, up to rounding by chance: in so few, single draws would hide the share."""
    number = int(len(keys) * share + generator.random())
    return [str(key) for key in generator.permutation(keys)[:number]]


def rate_all(planted: Sequence[Planted], *, truth: Truth, notes: dict[str, Any]) -> list[dict[str, Any]]:
    """The ratings of all raters, by rater in the order in which they worked."""
    verdicts = label_all(planted, truth=truth)
    unjudged = {(entry["item"], entry["rater"]): entry for entry in truth["no_verdict"]}
    if strays := [pair for pair in unjudged if pair not in verdicts]:
        raise ValueError(f"no_verdict: {strays[0]} is not an item of that rater")
    for pair in unjudged:
        del verdicts[pair]
    said = write_notes(planted, verdicts=verdicts, truth=truth, notes=notes)
    generator = generator_of(truth, ORDER)
    rows = []
    for rater, about in truth["raters"].items():
        own = [item for item in planted if rater in raters_of(item, truth=truth)]
        order = [own[place] for place in generator.permutation(len(own))]
        saved = datetime.fromisoformat(truth["created_utc"]) + timedelta(minutes=int(about["starts_minute"]))
        for place, item in enumerate(order):
            seconds = 25 + item.words / 3.9 * generator.uniform(0.8, 1.3) + generator.gamma(2.0, 30.0)
            pause = generator.uniform(4, 20)
            if place and place % truth["items_a_day"] == 0:
                saved = saved.replace(hour=8, minute=0) + timedelta(
                    days=1, minutes=int(generator.integers(600))
                )
            saved += timedelta(seconds=round(seconds + pause))
            unsure = int(generator.integers(2))
            rows.append(
                {
                    **_rating(item, rater=rater, panel=about["panel"]),
                    **_label(item, verdict=verdicts.get((item.key, rater)), unsure=unsure),
                    "rationale": said.get((item.key, rater), ""),
                    **_withheld(unjudged.get((item.key, rater), {})),
                    "active_seconds": round(seconds),
                    "created_utc": saved.strftime("%Y-%m-%dT%H:%M:%SZ"),
                    "updated_utc": saved.strftime("%Y-%m-%dT%H:%M:%SZ"),
                }
            )
    return rows


def label_all(planted: Sequence[Planted], *, truth: Truth) -> dict[tuple[str, str], LabelVerdict]:
    """(conversation, rater) -> the verdict."""
    generator = generator_of(truth, LABELS)
    verdicts = {}
    for item in planted:
        readings = truth["present_under"].get(item.key)
        kind = "contested" if readings is not None else "clear" if item.clear else "unclear"
        shares = truth["labels"][kind]
        for rater in raters_of(item, truth=truth):
            about = truth["raters"][rater]
            misread, undecided, harsh, very_harsh = generator.random(4)
            present = item.present if readings is None else about[item.metric] in readings
            verdict = LabelVerdict.PASS if item.passes(present) else LabelVerdict.FAIL
            if undecided < shares["borderline"]:
                verdict = LabelVerdict.BORDERLINE
            elif misread < shares["misread"]:
                verdict = LabelVerdict.FAIL if verdict is LabelVerdict.PASS else LabelVerdict.PASS
            if verdict is LabelVerdict.PASS and harsh < about["severity"]:
                fails = very_harsh < truth["severity_to_fail"]
                verdict = LabelVerdict.FAIL if fails else LabelVerdict.BORDERLINE
            verdicts[item.key, rater] = verdict
    return verdicts


def write_notes(
    planted: Sequence[Planted],
    *,
    verdicts: dict[tuple[str, str], LabelVerdict],
    truth: Truth,
    notes: dict[str, Any],
) -> dict[tuple[str, str], str]:
    """(conversation, rater) -> why, where the rater says why. What fits best and was used least is taken first."""
    generator = generator_of(truth, NOTES)
    used: dict[str, int] = {}
    said = {}
    for item in planted:
        bank, own = notes[item.metric]["bank"], notes[item.metric]["conversations"].get(item.key[4:], {})
        here: set[str] = set()
        for rater in generator.permutation(raters_of(item, truth=truth)).tolist():
            verdict = verdicts.get((item.key, rater))
            silent = generator.random() < truth["raters"][rater]["silent"]
            if verdict is None or silent:
                continue
            argued = "borderline"
            if verdict is not LabelVerdict.BORDERLINE:
                argued = "present" if item.passes(True) is (verdict is LabelVerdict.PASS) else "absent"
            left = [note for note in own.get(argued, []) if note not in here]
            if not left and argued in own and item.clear:
                continue
            left = left or [note for note in bank[argued] if note not in here]
            least = min(used.get(note, 0) for note in left)
            left = [note for note in left if used.get(note, 0) == least]
            note = left[int(generator.integers(len(left)))]
            used[note] = least + 1
            here.add(note)
            text = item.cite(note)
            said[item.key, rater] = (
                _as_typed_in_haste(text) if truth["raters"][rater].get("lowercase") else text
            )
    return said


def _as_typed_in_haste(text: str) -> str:
    text = text[0].lower() + text[1:]
    return text if text.endswith("..") else text.removesuffix(".")


def _score(
    item: Planted, *, present: bool, repeat: int, texts: dict[str, list[str]], word: int
) -> dict[str, Any]:
    scenario = item.scenario
    passed = item.passes(present)
    return {
        "id": scenario["id"],
        "metric_id": item.metric,
        "metric_name": scenario["metric_name"],
        "metric_type": scenario["metric_type"],
        "target_model": item.model,
        "conv_id": item.key,
        "present": present,
        "passed": passed,
        "score": int(passed),
        "justification": item.cite(texts["present" if present else "absent"][word]),
        "sample": repeat,
    }


def _rating(item: Planted, *, rater: str, panel: str) -> dict[str, Any]:
    base, _, variant = item.scenario["id"].rpartition("_")
    return {
        "item_id": item.key,
        "base_scenario_id": base,
        "variant": variant,
        "metric_id": item.metric,
        "metric_version": 1,
        "guideline_version": 1,
        "rater_id": rater,
        "rater_group": panel,
        "repeat_no": 0,
        "blinding_version": 1,
    }


def _label(item: Planted, *, verdict: LabelVerdict | None, unsure: int) -> dict[str, Any]:
    turns = " ".join(str(turn) for turn in item.turns)
    if verdict is None:
        return {"label": "", "confidence": ""}
    sure = 2 if verdict is LabelVerdict.BORDERLINE else 4 if item.clear else 3
    return {
        "label": verdict.value,
        "status": "submitted",
        "confidence": sure - unsure,
        "turns": turns,
    }


def _withheld(entry: dict[str, str]) -> dict[str, str]:
    return {name: entry[name] for name in ("status", "reason", "rationale") if name in entry}
