"""What has changed and what was picked: behaviours over time, decisions about them, and case studies."""

from collections.abc import Iterator, Sequence
from typing import Any

from reviews.contested.revisions import Difference
from reviews.public.cases import Case
from reviews.public.changes import PublicDecision
from reviews.public.over_time import Point, histories, over_time
from reviews.public.results import PublicMetric, PublicResults
from reviews.public.site.pages import File, Press, metric_page, scenario_page
from reviews.public.wording import count, in_hundred


def more_pages(
    press: Press, results: PublicResults, *, cases: Sequence[Case], decisions: Sequence[PublicDecision]
) -> Iterator[File]:
    """Those of the three pages that have something to show."""
    changing = [results.metrics[key] for key, look in histories(results).items() if look.changes]
    if changing:
        rows = [{"href": metric_page(one), "name": one.name, **_looks(results, one)} for one in changing]
        yield "over-time.html", press.page("over_time", study=results.study, rows=rows)
    if decisions:
        yield (
            "changes.html",
            press.page(
                "changes",
                study=results.study,
                entries=[_decision(results, one) for one in decisions],
            ),
        )
    if cases:
        back = sum(case.corrected for case in cases)
        there = sum(case.first_turn is not None for case in cases)
        yield (
            "cases.html",
            press.page(
                "cases",
                study=results.study,
                answer=f"{count(len(cases), 'conversation')} {'was' if len(cases) == 1 else 'were'} marked. In {there} the behaviour appears;"
                f" in {back} of these the chatbot takes it back.",
                rows=[_case(results, case) for case in cases],
            ),
        )


def titles(
    results: PublicResults, *, cases: Sequence[Case], decisions: Sequence[PublicDecision]
) -> list[tuple[str, str]]:
    """Address and title of those that there are."""
    found = []
    if any(look.changes for look in histories(results).values()):
        found.append(("over-time.html", "Behaviours over time"))
    if decisions:
        found.append(("changes.html", "Change log of the behaviours"))
    if cases:
        found.append(("cases.html", "Case studies"))
    return found


def points_of(results: PublicResults, metric: PublicMetric) -> list[dict[str, str]]:
    """A behaviour's results over time, where there is more than one of a model."""
    if not histories(results)[metric.key].changes:
        return []
    return [_point(results, one) for one in over_time(results, metric.benchmark, metric.metric)]


def _point(results: PublicResults, one: Point) -> dict[str, str]:
    return {
        "model": results.names.get(one.model, one.model),
        "when": f"{one.run_made:%d %B %Y}".lstrip("0"),
        "run": one.run,
        "version": str(one.version),
        "judge": results.names.get(one.judge, one.judge),
        "rate": in_hundred(one.rate),
        "changed": " and ".join(one.changed) or "nothing",
    }


def _looks(results: PublicResults, metric: PublicMetric) -> dict[str, Any]:
    look = histories(results)[metric.key]
    return {"versions": look.versions, "judges": look.judges, "runs": look.runs}


def _decision(results: PublicResults, one: PublicDecision) -> dict[str, Any]:
    benchmark, _, metric = one.metric.partition("/")
    return {
        "entry": one,
        "href": metric_page(results.metrics[benchmark, metric]),
        "when": f"{one.published_at:%d %B %Y}".lstrip("0"),
        "decision": one.decision.replace("_", " "),
        "followers": [
            {"one": follower, "differences": list(map(_difference, follower.differences))}
            for follower in one.followers
        ],
    }


def _difference(one: Difference) -> dict[str, Any]:
    return {"part": one.part.replace("_", " "), "pieces": one.pieces}


def _case(results: PublicResults, case: Case) -> dict[str, Any]:
    metric = results.metrics[case.benchmark, case.metric]
    return {
        "case": case,
        "metric": metric,
        "model": results.names.get(case.model, case.model),
        "href": f"{scenario_page(metric, case.scenario)}#conversation-{case.conversation_id}",
        "metric_href": metric_page(metric),
    }
