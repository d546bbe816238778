"""Where public pages are, for links from one to the other."""

from collections.abc import Mapping
from urllib.parse import urlencode

from reviews.public.releasing import PublicStudy
from reviews.public.results import in_addresses


def where_metric_is(study: PublicStudy, key: tuple[str, str]) -> str:
    """The address of the page of a metric."""
    return "/metrics?" + urlencode({"study": study.slug, "metric": in_addresses(key)})


def where_metrics_are(study: PublicStudy) -> str:
    return "/metrics?" + urlencode({"study": study.slug})


def where_label_is(study: PublicStudy, model: str) -> str:
    return "/label?" + urlencode({"study": study.slug, "model": model})


def where_over_time_is(study: PublicStudy, key: tuple[str, str]) -> str:
    return "/over-time?" + urlencode({"study": study.slug, "metric": in_addresses(key)})


def where_conversation_is(study: PublicStudy, key: tuple[str, str], conversation_id: int) -> str:
    """The address of a conversation, on the page of the metric that it is about."""
    query = {"study": study.slug, "metric": in_addresses(key), "conversation": conversation_id}
    return "/metrics?" + urlencode(query)


def where_scenario_is(study: PublicStudy, key: tuple[str, str], scenario: str) -> str:
    """The address of a scenario of a metric, with every conversation in it."""
    return "/metrics?" + urlencode({"study": study.slug, "metric": in_addresses(key), "scenario": scenario})


def where_explored(choices: Mapping[str, str]) -> str:
    """The address of the comparison with these choices."""
    return "/explore?" + urlencode(choices)


def where_page_is(path: str, study: PublicStudy) -> str:
    return f"/{path}?" + urlencode({"study": study.slug})


def where_label_file_is(study: PublicStudy, model: str, kind: str) -> str:
    """The address of a label as a file: html, svg or png."""
    return f"/label.{kind}?" + urlencode({"study": study.slug, "model": model})
