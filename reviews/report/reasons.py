"""Why a metric has its status, in words and from raw counts."""

from reviews.report.spelling import spelled
from validation.contested import CONCERNS, CORE, MetricStatus, Status
from validation.metric_evidence import THRESHOLDS, Domain, DomainEvidence


def in_a_sentence(one: MetricStatus) -> str:
    """What was found in each domain that speaks, or what is missing."""
    speaking = [evidence for evidence in one.evidence.domains.values() if _speaks(evidence)]
    if one.status is Status.NOT_ASSESSED:
        missing = [evidence.missing for evidence in one.evidence.domains.values() if evidence.missing]
        return "; ".join(dict.fromkeys(missing)) or _not_assessed(one)
    if not speaking:
        return "enough data, and nothing of concern in them"
    return "; ".join(_finding(evidence) for evidence in speaking)


def _not_assessed(one: MetricStatus) -> str:
    """What nobody looked at, where nothing of what was looked at is short of data."""
    blank = [f"whether {CONCERNS[domain]}" for domain in one.not_assessed if domain in CORE]
    return f"not assessed {', or '.join(blank)}" if blank and one.evidence.domains else "no data"


def _speaks(evidence: DomainEvidence) -> bool:
    return evidence.triggered or (evidence.probability or 0) >= 0.5


def _finding(evidence: DomainEvidence) -> str:
    """One domain in words, from its raw counts."""
    counts = {name: f"{number:g}" for name, number in evidence.counts.items()}
    limit = THRESHOLDS.get(evidence.domain)
    match evidence.domain:
        case Domain.EXPERT_DISAGREEMENT:
            alpha = spelled(evidence.estimate, n=False)
            found = f"experts split on {counts['split_items']} of {counts['items']} items; nominal α {alpha}"
            return f"{found}, below {limit:g} with probability {evidence.probability:.2f}"
        case Domain.JUDGE_AGAINST_EXPERTS:
            found = f"the judge agrees with the experts on {counts['agreeing']} of {counts['items']} items"
            return f"{found}, accuracy below {limit:g} with probability {evidence.probability:.2f}"
        case Domain.INDETERMINACY:
            found = f"{counts['marked']} of {counts['ratings']} labels are borderline"
        case Domain.UNSURE:
            found = f"{counts['marked']} of {counts['ratings']} answers are “I can’t judge this”"
        case Domain.JUDGE_INSTABILITY:
            found = f"the judge contradicts itself on {counts['flips']} of {counts['items']} items"
        case _:
            return ", ".join(f"{number} {name.replace('_', ' ')}" for name, number in counts.items())
    return f"{found}, above {limit:.0%} with probability {evidence.probability:.2f}"
