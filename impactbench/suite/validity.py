"""Eight questions about the validity of a benchmark, after the recommendations of Bean and colleagues.

Bean, A. M., Kearns, R. O., Romanou, A., et al. (2025). Measuring what matters: construct validity in large language
model benchmarks. arXiv:2511.04703.
"""

from enum import StrEnum


class Recommendation(StrEnum):
    """What the authors of a benchmark are asked to have done, in the order of making one."""

    DEFINITION = "definition"
    ONLY_THE_CONSTRUCT = "only_the_construct"
    SAMPLE = "sample"
    REUSE = "reuse"
    CONTAMINATION = "contamination"
    COMPARISON = "comparison"
    ERRORS = "errors"
    JUSTIFICATION = "justification"


QUESTIONS: dict[Recommendation, str] = {
    Recommendation.DEFINITION: (
        "Is it said what is measured, which parts it has, and what does not belong to it?"
    ),
    Recommendation.ONLY_THE_CONSTRUCT: (
        "Is anything else measured along with it, such as length, format or general ability, and how is that kept out?"
    ),
    Recommendation.SAMPLE: "Which situations does it stand for, and how were those in it chosen?",
    Recommendation.REUSE: "What was taken over from elsewhere, and what does that carry with it?",
    Recommendation.CONTAMINATION: "May models have met it in training, and how would that be noticed?",
    Recommendation.COMPARISON: "How is uncertainty stated, and how are models compared?",
    Recommendation.ERRORS: "Was it looked at where and why models and judges go wrong?",
    Recommendation.JUSTIFICATION: (
        "Why may somebody conclude from a result to what they care about, and where does that end?"
    ),
}
