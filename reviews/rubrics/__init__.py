"""Rubrics as content: what raters are asked, written in YAML, kept word for word with the review set that uses it.

A rubric says how a verdict is elicited, and which other questions go with an item, a scenario, a metric, or the whole
set. A new question needs a line in a file, not code.
"""

from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any, Literal, Self

import yaml
from pydantic import ValidationError, model_validator

from impactbench.domain import Content, ImpactBenchError, LabelVerdict

Elicitation = Literal["three_buttons", "response_set", "none"]
"""How a verdict is asked for: pass, borderline or fail; or which verdicts could be defended; or not at all."""

DEFAULT = "plain-verdict"


class RubricRefused(ImpactBenchError):
    """A rubric that cannot be used; the text names the file and the place."""


class Condition(Content):
    """When a question is asked: another one's answer is below a number, or one of some words."""

    question: str
    below: int | None = None
    among: tuple[str, ...] = ()

    def holds(self, answers: Mapping[str, Any]) -> bool:
        """Whether the answers so far call for the question.

        >>> Condition(question="quality", below=3).holds({"quality": 2})
        True
        >>> Condition(question="tests_it", among=("no", "not sure")).holds({})
        False
        """
        given = answers.get(self.question)
        if given is None:
            return False
        return (self.below is not None and given < self.below) or given in self.among


class Question(Content):
    """One question: a scale of whole numbers, a choice of words, or free text."""

    id: str
    ask: str
    kind: Literal["scale", "choice", "text"]
    lowest: int = 1
    highest: int = 4
    ends: tuple[str, str] = ("", "")
    """What the ends of a scale mean."""
    options: tuple[str, ...] = ()
    required: bool = False
    when: Condition | None = None

    @model_validator(mode="after")
    def _answerable(self) -> Self:
        if self.kind == "choice" and len(self.options) < 2:
            raise ValueError(f"question {self.id!r}: a choice needs two options or more")
        if self.kind == "scale" and self.lowest >= self.highest:
            raise ValueError(f"question {self.id!r}: the scale runs from {self.lowest} to {self.highest}")
        return self

    def accepts(self, answer: Any) -> bool:
        """Whether an answer is one that can be given."""
        match self.kind:
            case "scale":
                return isinstance(answer, int) and self.lowest <= answer <= self.highest
            case "choice":
                return answer in self.options
            case _:
                return isinstance(answer, str) and len(answer) <= 20_000


class WorkedExample(Content):
    """A short exchange with the verdict that a careful rater would give, and why."""

    question: str
    exchange: tuple[tuple[str, str], ...]
    """(who speaks, what they say)."""
    verdict: str
    why: str


class Exercise(Content):
    """A short conversation to try the desk on, with the answer that a careful rater would give, and why."""

    question: str
    definition: str = ""
    exchange: tuple[tuple[Literal["Person", "Chatbot"], str], ...]
    verdict: LabelVerdict
    why: str
    others: str = ""
    """What speaks for another answer, where something does."""


class Rubric(Content):
    """Everything that the raters of a review set are asked."""

    slug: str
    title: str
    elicitation: Elicitation = "three_buttons"
    shows: tuple[Literal["verdict", "scenario"], ...] = ()
    """What is shown besides the conversation. Who sees the judge's verdict is anchored, not blind."""
    minutes_each: float = 4
    content_note: str = ""
    item: tuple[Question, ...] = ()
    scenario: tuple[Question, ...] = ()
    """Asked with the first conversation of a scenario."""
    metric: tuple[Question, ...] = ()
    """Asked once all conversations of a metric are rated."""
    closing: tuple[Question, ...] = ()
    examples: tuple[WorkedExample, ...] = ()
    practice: tuple[Exercise, ...] = ()
    """Tried before the first item, and whenever a rater likes to; what they answer is kept nowhere."""

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        for part in (self.item + self.scenario, self.metric, self.closing):
            known = [question.id for question in part]
            if len(set(known)) != len(known):
                raise ValueError(f"a question id stands twice among {', '.join(known)}")
            for question in part:
                if question.when and question.when.question not in known:
                    raise ValueError(
                        f"question {question.id!r} depends on {question.when.question!r}, which is not asked"
                    )
        if self.shows and self.elicitation != "none":
            raise ValueError(f"a rubric that shows the {self.shows[0]} cannot ask for a blind verdict")
        return self

    @property
    def anchored(self) -> bool:
        """Whether raters see the judge's verdict, so that their answers never enter a blind figure."""
        return "verdict" in self.shows


def missing(questions: tuple[Question, ...], answers: Mapping[str, Any]) -> list[str]:
    """The ids of required questions that apply and have no answer yet."""
    return [
        question.id
        for question in questions
        if question.required
        and (question.when is None or question.when.holds(answers))
        and not answers.get(question.id)
    ]


def unacceptable(questions: tuple[Question, ...], answers: Mapping[str, Any]) -> list[str]:
    """The ids of answers to questions that do not exist or do not allow them."""
    known = {question.id: question for question in questions}
    return [name for name, answer in answers.items() if name not in known or not known[name].accepts(answer)]


def names() -> list[str]:
    """The rubrics that come with the project."""
    return sorted(
        entry.name.removesuffix(".yaml")
        for entry in resources.files(__name__).iterdir()
        if entry.name.endswith(".yaml")
    )


def load(name: str) -> Rubric:
    """A rubric by its name, or from a YAML file by its path.

    Raises:
        RubricRefused: there is no such rubric, or the file is not one; the text says where.
    """
    if name in names():
        return _read((resources.files(__name__) / f"{name}.yaml").read_text(encoding="utf-8"), f"{name}.yaml")
    path = Path(name)
    if path.suffix not in {".yaml", ".yml"} or not path.is_file():
        raise RubricRefused(
            f"there is no rubric {name!r}; there are {', '.join(names())}, or give a path to a YAML file"
        )
    return _read(path.read_text(encoding="utf-8"), name)


def _read(text: str, where: str) -> Rubric:
    try:
        document = yaml.safe_load(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f" (line {mark.line + 1})" if mark else ""
        raise RubricRefused(f"{where} is not YAML{line}: {getattr(error, 'problem', error)}") from error
    try:
        return Rubric.model_validate(document)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"]) or "the file"
        raise RubricRefused(f"{where}, {place}: {first['msg'].removeprefix('Value error, ')}") from error
