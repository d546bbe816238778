"""What is wrong with a suite before anybody spends money on it: each finding says where, what, and what would be right."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum

from impactbench.domain import MetricDefinition, Polarity
from impactbench.metrics import Suite, SuiteBenchmark, SuiteMetric
from impactbench.resources import subareas
from impactbench.suite.validity import QUESTIONS
from impactbench.suite.wording import avoidance, count_sentences, second_behaviour, unobservable

LEAST_EXAMPLES = 2
SENTENCES_OF_A_CLAUSE = range(2, 6)
NEARLY_THE_SAME_EXAMPLE = 0.85
"""Share of matching words, in order, above which a present and an absent example cannot be told apart."""
NEARLY_THE_SAME_METRIC = 0.4
"""Cosine of the words (tf-idf) from which two metrics may ask the same."""


class Rule(StrEnum):
    """What is looked for."""

    TWO_BEHAVIOURS = "two behaviours"
    UNOBSERVABLE = "unobservable"
    AVOIDANCE = "avoidance"
    EXAMPLES_CONTRADICT = "examples contradict"
    EXAMPLES_MISSING = "examples missing"
    NEAR_DUPLICATE = "near duplicate"
    CLAUSE = "interpretive clause"
    QUESTION = "question"
    CITATION = "citation"
    SUBAREA = "subarea"
    VALIDITY = "validity"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing to mend."""

    file: str
    metric: str
    """Slug of the metric; empty where it is about the benchmark."""
    rule: Rule
    sentence: str
    remedy: str

    def __str__(self) -> str:
        where = f"{self.file}: metric {self.metric!r}" if self.metric else self.file
        return f"{where}: {self.sentence}; {self.remedy}"


def check_suite(suite: Suite) -> tuple[Finding, ...]:
    """Everything that the rules find, in the order of the files; empty for a suite that passes."""
    findings = [finding for benchmark in suite.benchmarks for finding in _of_benchmark(benchmark)]
    return (*findings, *_near_duplicates(suite))


def check_metric(metric: SuiteMetric, *, file: str) -> Iterator[Finding]:
    """What is wrong with one metric by itself."""
    definition = metric.definition
    for rule, sentence, remedy in (
        *_of_wording(definition),
        *_of_examples(definition),
        *_of_clause(definition),
        *_of_place(metric),
    ):
        yield Finding(file, metric.slug, rule, sentence, remedy)


def near_duplicates_of(metric: SuiteMetric, suite: Suite) -> Iterator[Finding]:
    """Metrics of the suite that may ask the same as one that is not in it."""
    others = [other for other in suite.metrics if other.key != metric.key]
    last = len(others)
    for first, second, cosine in near_duplicates([_words(one) for one in (*others, metric)]):
        if second == last:
            yield _duplicate("", metric, others[first], cosine)


def _of_benchmark(benchmark: SuiteBenchmark) -> Iterator[Finding]:
    unanswered = [question for one, question in QUESTIONS.items() if not benchmark.validity.get(one)]
    if unanswered:
        yield Finding(
            benchmark.file,
            "",
            Rule.VALIDITY,
            f"{len(unanswered)} of the {len(QUESTIONS)} questions on validity have no answer, first {unanswered[0]!r}",
            "answer each under `validity`, if only to say what has not been done",
        )
    for metric in benchmark.metrics:
        yield from check_metric(metric, file=benchmark.file)


def _of_wording(definition: MetricDefinition) -> Iterator[tuple[Rule, str, str]]:
    if joined := second_behaviour(definition.definition):
        yield (
            Rule.TWO_BEHAVIOURS,
            f"the definition holds two behaviours (“{joined}”), and a conversation may show one of them",
            "make two metrics, or say which one decides",
        )
    for field in ("name", "definition"):
        words, about = unobservable(getattr(definition, field))
        if words:
            yield (
                Rule.UNOBSERVABLE,
                f"the {field} speaks of {about} (“{words}”), which a transcript does not show",
                "say which words or acts in the conversation would show it",
            )
    if definition.polarity is Polarity.NEGATIVE:
        for field in ("name", "definition"):
            if words := avoidance(getattr(definition, field)):
                yield (
                    Rule.AVOIDANCE,
                    f"the {field} of a negative metric begins as an avoidance (“{words}”), so that present and absent"
                    " change places",
                    "name what the chatbot does, as something one can point at",
                )


def _of_examples(definition: MetricDefinition) -> Iterator[tuple[Rule, str, str]]:
    for kind, examples in (
        ("present", definition.examples_present),
        ("absent", definition.examples_absent),
    ):
        if len(examples) < LEAST_EXAMPLES:
            yield (
                Rule.EXAMPLES_MISSING,
                f"there are {len(examples)} examples with the behaviour {kind}",
                f"give at least {LEAST_EXAMPLES} short turns of a chatbot",
            )
    for present in definition.examples_present:
        for absent in definition.examples_absent:
            alike = _alike(present, absent)
            if alike >= NEARLY_THE_SAME_EXAMPLE:
                same = "is also an absent one" if alike == 1 else "is nearly the same as an absent one"
                yield (
                    Rule.EXAMPLES_CONTRADICT,
                    f"the present example “{_short(present)}” {same}",
                    "an example must show which side it is on",
                )


def _of_clause(definition: MetricDefinition) -> Iterator[tuple[Rule, str, str]]:
    sentences = count_sentences(definition.interpretive_clause)
    if sentences not in SENTENCES_OF_A_CLAUSE:
        said = f"has {sentences} sentence{'' if sentences == 1 else 's'}" if sentences else "is missing"
        yield (
            Rule.CLAUSE,
            f"the interpretive clause {said}",
            "settle in two to five sentences conflicts within a turn, across turns, and what is excluded",
        )
    if not definition.question.endswith("?"):
        yield (
            Rule.QUESTION,
            "there is no question in plain words" if not definition.question else "the question asks nothing",
            "write what an expert is asked, ending with a question mark",
        )


def _of_place(metric: SuiteMetric) -> Iterator[tuple[Rule, str, str]]:
    if not metric.sources or not any(re.search(r"\b(?:1[89]|20)\d\d\b", source) for source in metric.sources):
        yield (
            Rule.CITATION,
            "there is no source with a year",
            "name what its importance rests on: authors, year, title",
        )
    if not metric.matters:
        yield Rule.CITATION, "it is not said why it matters", "say it in one or two sentences"
    known = {place.slug for place in subareas()}
    if not metric.subareas:
        yield Rule.SUBAREA, "it stands in no subarea", f"name one or more of {', '.join(sorted(known))}"
    for slug in metric.subareas:
        if slug not in known:
            yield Rule.SUBAREA, f"{slug!r} is no subarea", f"the subareas are {', '.join(sorted(known))}"


def _near_duplicates(suite: Suite) -> Iterator[Finding]:
    metrics = suite.metrics
    files = {benchmark.slug: benchmark.file for benchmark in suite.benchmarks}
    for first, second, cosine in near_duplicates([_words(metric) for metric in metrics]):
        one, other = metrics[first], metrics[second]
        yield _duplicate(files[other.benchmark], other, one, cosine)


def _duplicate(file: str, metric: SuiteMetric, other: SuiteMetric, cosine: float) -> Finding:
    return Finding(
        file,
        metric.slug,
        Rule.NEAR_DUPLICATE,
        f"it may ask the same as {other.key} (cosine of the words {cosine:.2f})",
        "merge the two, or say in both definitions what sets them apart",
    )


def near_duplicates(texts: Sequence[str]) -> list[tuple[int, int, float]]:
    """Pairs of texts that say nearly the same, as (first, second, cosine)."""
    if len(texts) < 2:
        return []
    from sklearn.feature_extraction.text import TfidfVectorizer

    vectors = TfidfVectorizer(stop_words="english", sublinear_tf=True).fit_transform(texts)
    cosines = (vectors @ vectors.T).tocoo()
    pairs = zip(cosines.row, cosines.col, cosines.data, strict=True)
    return sorted(
        (int(one), int(other), float(cosine))
        for one, other, cosine in pairs
        if one < other and cosine >= NEARLY_THE_SAME_METRIC
    )


def _words(metric: SuiteMetric) -> str:
    return f"{metric.definition.name}. {metric.definition.definition}"


def _alike(one: str, other: str) -> float:
    first, second = (re.findall(r"\w+", text.casefold()) for text in (one, other))
    return (
        1.0 if first == second else min(SequenceMatcher(None, first, second, autojunk=False).ratio(), 0.999)
    )


def _short(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:57]}..."
