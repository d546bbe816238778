"""Every page that shows a study, in the order in which they are named at the top of each."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from markupsafe import Markup

from app.public.pages import cases, change_log, explore, label, metrics, over_time, statistics
from app.public.parts import Sheet, warning
from app.public.visit import Visit


@dataclass(frozen=True, slots=True)
class PublicPage:
    """What a page is called where one goes to it, and what shows it."""

    title: str
    view: Callable[[Visit], Sheet]


PAGES: Mapping[str, PublicPage] = {
    "label": PublicPage("Nutrition label", label.label),
    "explore": PublicPage("Explore", explore.explore),
    "metrics": PublicPage("Metrics", metrics.metrics),
    "statistics": PublicPage("Statistics", statistics.statistics),
    "over-time": PublicPage("Over time", over_time.over_time_page),
    "cases": PublicPage("Case studies", cases.case_studies),
    "change-log": PublicPage("Change log", change_log.change_log),
}
"""By address."""


def whole_sheet(path: str, visit: Visit) -> Sheet:
    """A page with what a reader has to know of the study first."""
    sheet = PAGES[path].view(visit)
    return Sheet(sheet.title, (*_above(visit), *sheet.parts))


def _above(visit: Visit) -> Iterator[Markup]:
    if visit.study.released_at is None:
        yield warning("🔒 Not released. Only members of the project see this; the public does not.")
    if visit.study.notice:
        yield warning(visit.study.notice)
