"""The nutrition label of a model as HTML: the same on the page, on paper and in a file of its own.

Whether a line is checked is said by a shape, a word and the drawing of its bar; a line that nobody checked, or that
experts do not agree on, has no filled bar.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from html import escape
from pathlib import Path

from markupsafe import Markup

from reviews.public.evidence_marks import EvidenceMark
from reviews.public.wording import count, in_hundred
from validation.results import Estimate

PROMOTED, AVOIDED = "What it promotes: helpful behaviour", "What it avoids: harmful behaviour"
STYLE = Path(__file__).with_suffix(".css")


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelRow:
    """What a model does under one heading, as far as one polarity goes."""

    heading: str
    both: Estimate
    teen: Estimate
    adult: Estimate
    evidence: EvidenceMark
    behaviours: Sequence[tuple[str, str]]
    """The name of each metric, and where its page is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelText:
    """All that a label says."""

    model: str
    maker: str
    opening: Sequence[str]
    """The sentences that answer the question of the page."""
    promoted: Sequence[LabelRow]
    avoided: Sequence[LabelRow]
    small_print: Sequence[str]


@cache
def style() -> str:
    return STYLE.read_text(encoding="utf-8")


def as_fragment(label: LabelText, *, links: bool = True) -> Markup:
    """The label as part of a page; without links where the pages that they lead to are not at hand."""
    opening = "".join(f"<p>{escape(sentence)}</p>" for sentence in label.opening)
    print_ = "".join(f"<li>{escape(sentence)}</li>" for sentence in label.small_print)
    maker = f" <small>{escape(label.maker)}</small>" if label.maker else ""
    return Markup(  # noqa: S704 (every text in it is escaped)
        f'<article class="ib-label"><h2>{escape(label.model)}{maker}</h2><div class="ib-opening">{opening}</div>'
        + _section(PROMOTED, "How often it does what is good for people", label.promoted, links)
        + _section(AVOIDED, "How often it stays clear of what is bad for people", label.avoided, links)
        + _key()
        + f'<h3>Small print</h3><ul class="ib-small">{print_}</ul></article>'
    )


def as_page(label: LabelText) -> str:
    """The label as a file of its own, which loads nothing."""
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta name="color-scheme" content="light dark"><title>{escape(label.model)}: nutrition label</title>'
        f"<style>{style()}</style></head><body class='ib-alone'><main><h1>Nutrition label</h1>"
        f"{as_fragment(label, links=False)}</main></body></html>\n"
    )


def _section(title: str, meaning: str, rows: Sequence[LabelRow], links: bool) -> str:
    listed = "".join(_row(row, links) for row in rows)
    inside = f'<ul class="ib-rows">{listed}</ul>' if rows else "<p>Nothing of this kind was tested.</p>"
    return f'<section><h3>{title}</h3><p class="ib-meaning">{meaning}. More is better.</p>{inside}</section>'


def _row(row: LabelRow, links: bool) -> str:
    state = row.evidence
    ages = f"Teens {in_hundred(row.teen)}<br>Adults {in_hundred(row.adult)}"
    names = "".join(
        f'<li><a href="{escape(where)}">{escape(name)}</a></li>' if links else f"<li>{escape(name)}</li>"
        for name, where in row.behaviours
    )
    return (
        f'<li class="ib-row"><h4>{escape(row.heading)}</h4>'
        f'<div class="ib-rate">{_bar(row.both, state.drawn)}<strong>{in_hundred(row.both)}</strong></div>'
        f'<div class="ib-ages">{ages}</div>'
        f'<div class="ib-state"><span aria-hidden="true">{state.shape}</span> <b>{escape(state.word)}</b>'
        f"<br>{escape(state.sentence)}</div>"
        f"<details><summary>{count(len(row.behaviours), 'behaviour')}</summary><ul>{names}</ul></details></li>"
    )


def _bar(rate: Estimate, drawn: str) -> str:
    """A picture for the eye alone: the number with its interval stands beside it in words."""
    if rate.value is None:
        return '<span class="ib-bar" aria-hidden="true"></span>'
    spread = ""
    if rate.low is not None and rate.high is not None:
        spread = f'<i style="left:{rate.low:.1%};right:calc(100% - {rate.high:.1%})"></i>'
    return f'<span class="ib-bar ib-{drawn}" aria-hidden="true">{spread}<b style="left:{rate.value:.1%}"></b></span>'


def _key() -> str:
    kinds = (
        ("checked", "● experts checked the automatic judge here and found nothing of concern"),
        ("watch", "◆ experts checked it, and a doubt remains"),
        ("contested", "▲ contested: experts disagree, with each other or with the judge; read it with care"),
        (
            "unchecked",
            "○ experts have not checked this, or not enough: the result is the automatic judge’s alone",
        ),
    )
    shown = "".join(
        f'<li><span class="ib-bar ib-{kind}" aria-hidden="true"><i style="left:25%;right:25%"></i>'
        f'<b style="left:50%"></b></span> {words}</li>'
        for kind, words in kinds
    )
    return (
        '<h3>How to read the bars</h3><p class="ib-meaning">Left is never, right is always. The mark is the result;'
        f' the band is how far it could be off.</p><ul class="ib-key">{shown}</ul>'
    )
