"""Where public pages are, for links from one to the other."""

from urllib.parse import urlencode

from reviews.public.releasing import PublicStudy


def where_metric_is(study: PublicStudy, key: tuple[str, str]) -> str:
    """The address of the page of a metric."""
    return "/metrics?" + urlencode({"study": study.slug, "metric": "__".join(key)})


def where_metrics_are(study: PublicStudy) -> str:
    return "/metrics?" + urlencode({"study": study.slug})


def where_label_is(study: PublicStudy, model: str) -> str:
    return "/label?" + urlencode({"study": study.slug, "model": model})


def where_study_is(study: PublicStudy) -> str:
    return "/label?" + urlencode({"study": study.slug})


def where_explore_is(study: PublicStudy) -> str:
    return "/explore?" + urlencode({"study": study.slug})
