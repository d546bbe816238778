"""What an audit of the demo study finds, with the library's own functions: `python -m tests.demo.findings` prints it."""

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import yaml

from validation.agreement import krippendorff_alpha
from validation.judge_accuracy import JudgeAccuracy, judge_accuracy
from validation.mapping import PRIMARY, reference
from validation.raters import Severity, severity
from validation.ratings import Ratings
from validation.results import Estimate
from validation.retest import Retest, retest_by
from validation.self_preference import Comparison, Kinship, self_preference

DEMO = Path(__file__).resolve().parents[2] / "data" / "demo"
STUDY = DEMO / "everyday-choices"
SCALE = ("fail", "borderline", "pass")
BEGIN, END = "<!-- findings: begin -->\n", "<!-- findings: end -->"


@dataclass(frozen=True)
class Findings:
    """An audit of a study in the published layout, with its ratings.csv."""

    folder: Path

    @cached_property
    def labels(self) -> pd.DataFrame:
        return pd.read_csv(self.folder / "ratings.csv", keep_default_na=False)

    @cached_property
    def submitted(self) -> pd.DataFrame:
        return self.labels[self.labels["status"] == "submitted"]

    @cached_property
    def ratings(self) -> Ratings:
        return Ratings.from_frame(
            self.submitted,
            categories=SCALE,
            unit="item_id",
            rater="rater_id",
            value="label",
            cluster="metric_id",
        )

    @cached_property
    def alpha(self) -> dict[str, Estimate]:
        """metric -> ordinal alpha."""
        found = {}
        for metric, part in self.submitted.groupby("metric_id"):
            table = Ratings.from_frame(
                part, categories=SCALE, unit="item_id", rater="rater_id", value="label"
            )
            found[str(metric)] = krippendorff_alpha(table, level="ordinal")
        return found

    @cached_property
    def borderline(self) -> dict[str, float]:
        """metric -> share of borderline labels."""
        shares = (self.submitted["label"] == "borderline").groupby(self.submitted["metric_id"]).mean()
        return {str(metric): float(share) for metric, share in shares.items()}

    @cached_property
    def severities(self) -> dict[str, Severity]:
        """rater -> how far the share of passes is from that of the others on the same conversations."""
        return {str(one.rater): one for one in severity(self.ratings, seed=0, scores=[0, 0, 1])}

    @cached_property
    def scores(self) -> pd.DataFrame:
        """One row a judgment, with the family of the target."""
        parts: list[dict[str, Any]] = []
        for run in sorted((self.folder / "runs").iterdir()):
            family = yaml.safe_load((run / "model.yaml").read_text(encoding="utf-8"))["family"]
            scores = json.loads((run / "scores.json").read_text(encoding="utf-8"))
            parts += [{**score, "family": family} for score in scores]
        return pd.DataFrame(parts)

    @cached_property
    def retest(self) -> dict[str, Retest]:
        """metric -> how the judge agrees with itself."""
        long = self.scores.assign(value=self.scores["passed"].map({True: "pass", False: "fail"}))
        runs = Ratings.from_frame(
            long, categories=["fail", "pass"], unit="conv_id", rater="sample", value="value"
        )
        return {
            str(name): one
            for name, one in retest_by(runs, strata=[str(unit)[:3] for unit in runs.units]).items()
        }

    @cached_property
    def _first_run(self) -> pd.DataFrame:
        """The rated conversations in the order of `ratings`, with the experts' reference."""
        first = self.scores[self.scores["sample"] == 0].set_index("conv_id")
        return first.loc[list(self.ratings.units)].assign(reference=reference(self.ratings, PRIMARY))

    @cached_property
    def judge(self) -> dict[str, JudgeAccuracy]:
        """family of the target -> the judge's first run against the experts; "all" is everything."""
        groups = {"all": self._first_run} | {str(k): v for k, v in self._first_run.groupby("family")}
        return {
            name: judge_accuracy(part["reference"], part["passed"].astype(float), policy=PRIMARY.name)
            for name, part in groups.items()
        }

    @cached_property
    def self_preference(self) -> Comparison:
        """The judge on its own family against the other."""
        kin = np.where(self._first_run["family"] == "tansy", Kinship.SIBLING, Kinship.OTHER)
        found = self_preference(
            judge=self._first_run["passed"].astype(float),
            human=self._first_run["reference"],
            kinship=[str(one) for one in kin],
            metric=self._first_run["metric_id"].tolist(),
        )
        return found["family"]

    def table(self) -> str:
        """The findings as README.md has them."""
        lines = [
            "| metric | alpha, ordinal (95% interval) | borderline | flip rate of the judge |",
            "|---|---|---|---|",
        ]
        for metric, alpha in self.alpha.items():
            flips = self.retest[metric].flip_rate
            lines.append(f"| {metric} | {_shown(alpha)} | {self.borderline[metric]:.0%} | {_shown(flips)} |")
        lines += [
            "",
            "| rater | pass share, minus that of the others on the same conversations |",
            "|---|---|",
        ]
        for rater, one in sorted(self.severities.items()):
            lines.append(f"| {rater} | {_shown(one.lean, sign=True)} |")
        lines += ["", "| judge, first run, on | false-pass rate | accuracy |", "|---|---|---|"]
        for family, judged in self.judge.items():
            lines.append(f"| {family} | {_shown(judged.false_pass_rate)} | {_shown(judged.accuracy)} |")
        lines += ["", f"Self-preference, tansy against corvid: {self.self_preference.sentence}."]
        return "\n".join(lines) + "\n"


def _shown(estimate: Estimate, *, sign: bool = False) -> str:
    if estimate.value is None:
        return f"not defined ({estimate.undefined_because})"
    form = "+.2f" if sign else ".2f"
    low, high = estimate.low, estimate.high
    interval = "" if low is None or high is None else f" [{low:{form}}, {high:{form}}]"
    return f"{estimate.value:{form}}{interval}, n = {estimate.n}"


if __name__ == "__main__":
    print(Findings(STUDY).table())  # noqa: T201
