"""The items of a study with all their labels, as programs for annotation want them: one record an item."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from impactbench.adapters.study_labels import StudyLabels


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledItem:
    """A conversation and the metric version that it was rated on, with the newest revision of each label."""

    item: str
    run: str
    benchmark: str
    metric: str
    metric_version: int
    name: str
    question: str
    turns: Sequence[Mapping[str, str]]
    labels: Sequence[Mapping[str, str]]
    """The cells of a long table, in its columns."""
    history: Sequence[Sequence[Mapping[str, Any]]]
    """Every revision of each label, as portable rows, in the order of `labels`."""

    @property
    def key(self) -> str:
        """A name that no other item of the study has."""
        return "/".join((self.run, self.item, self.benchmark, self.metric, str(self.metric_version)))

    @property
    def data(self) -> dict[str, Any]:
        """What an annotator would read, and what names the item."""
        return {
            "item_id": self.item,
            "run": self.run,
            "benchmark": self.benchmark,
            "metric_id": self.metric,
            "metric_version": self.metric_version,
            "metric_name": self.name,
            "question": self.question,
            "conversation": [{"role": turn["role"], "content": turn["content"]} for turn in self.turns],
        }


def labelled_items(labels: StudyLabels) -> Iterator[LabelledItem]:
    """The items that have a label, in the order of the long table."""
    conversations = {(*row["run"], row["key"]): row for row in labels.sections["conversation"]}
    versions = {(*row["metric"], row["version"]): row for row in labels.sections["metric_version"]}
    history: dict[tuple[Any, ...], list[Mapping[str, Any]]] = {}
    for said in labels.history:
        history.setdefault(tuple(said["assignment"]), []).append(said)
    grouped: dict[tuple[Any, ...], list[tuple[Mapping[str, str], Sequence[Mapping[str, Any]]]]] = {}
    for (key, revisions), cells in zip(history.items(), labels.cells(), strict=True):
        # study, then the conversation (study, run, key), the metric version (benchmark, metric, number), rater, repeat
        grouped.setdefault(key[1:7], []).append((cells, revisions))
    for key, several in grouped.items():
        version = versions[key[3:]]
        yield LabelledItem(
            item=key[2],
            run=key[1],
            benchmark=key[3],
            metric=key[4],
            metric_version=key[5],
            name=version["name"],
            question=version["question"] or version["definition"],
            turns=conversations[key[:3]]["turns"],
            labels=[cells for cells, _ in several],
            history=[revisions for _, revisions in several],
        )
