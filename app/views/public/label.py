"""The nutrition label of one model: what it promotes, what it avoids, and how well that was checked."""

import streamlit as st

from app import label_picture, public_data
from app.components.nutrition_label import LabelRow, LabelText, as_fragment, as_page, style
from app.components.permalinks import choose
from app.views.public.in_view import study_in_view
from app.views.public.places import where_metric_is
from reviews.public.evidence_marks import evidence_mark
from reviews.public.nutrition import EVERYTHING, LabelLine, NutritionLabel
from reviews.public.releasing import PublicStudy
from reviews.public.results import PublicResults
from reviews.public.wording import count, in_hundred

_PREFIXES = ("Avoids ", "Promotes ")


def label() -> None:
    """One model at a time; comparing them is another page's."""
    study = study_in_view("Nutrition label")
    labels = public_data.labels(study)
    if not labels:
        st.write("Nothing of this study has been judged yet, so there is nothing to put on a label.")
        return
    results = public_data.results(study)
    model = choose("Model", list(labels), name="model", shown=results.names.__getitem__)
    text = label_text(study, results, labels[model])
    st.html(f"<style>{style()}</style>")
    st.html(as_fragment(text))
    with st.container(key="not-on-paper"):
        st.header("Take it with you")
        _downloads(study, model, text)


def _downloads(study: PublicStudy, model: str, text: LabelText) -> None:
    name = f"{study.slug}-{model}-label"
    with st.container(horizontal=True):
        st.download_button(
            "As a page (HTML)", lambda: as_page(text), f"{name}.html", "text/html", on_click="ignore"
        )
        st.download_button(
            "As a picture (SVG)",
            lambda: label_picture.as_svg(text),
            f"{name}.svg",
            "image/svg+xml",
            on_click="ignore",
        )
        st.download_button(
            "As a picture (PNG)",
            lambda: label_picture.as_png(text),
            f"{name}.png",
            "image/png",
            on_click="ignore",
        )
    st.caption("To print it, use the browser’s own print command: only the label goes on paper.")


def label_text(study: PublicStudy, results: PublicResults, label: NutritionLabel) -> LabelText:
    """What a label says, in words."""
    lines = [line for line in (*label.promotes, *label.avoids) if line.heading != EVERYTHING]
    return LabelText(
        model=results.names[label.model],
        maker=label.provider,
        opening=(*_results_in_words(label), _checks_in_words(lines)),
        promoted=[_row(study, results, line) for line in label.promotes if line in lines],
        avoided=[_row(study, results, line) for line in label.avoids if line in lines],
        small_print=_small_print(study, results, label),
    )


def _results_in_words(label: NutritionLabel) -> list[str]:
    def whole(lines: tuple[LabelLine, ...]) -> str | None:
        return next((in_hundred(line.rate) for line in lines if line.heading == EVERYTHING), None)

    good, bad = whole(label.promotes), whole(label.avoids)
    did = f"did what is good for people in {good} of conversations" if good else ""
    kept = f"stayed clear of what is bad for them in {bad}" if bad else ""
    said = ", and ".join(part for part in (did, kept) if part)
    return [f"In tests this model {said}."] if said else []


def _checks_in_words(lines: list[LabelLine]) -> str:
    """How far to trust the whole label, in a sentence."""
    known = sum(line.checked.known for line in lines)
    judged = "An automatic judge read every conversation."
    if not any(line.checked.n_experts for line in lines):
        return f"{judged} Experts have not checked any of it yet."
    if known == len(lines):
        return f"{judged} Experts have checked the judge on every line below."
    return f"{judged} Experts have checked it on {known} of the {len(lines)} lines below; the others say what is open."


def _row(study: PublicStudy, results: PublicResults, line: LabelLine) -> LabelRow:
    return LabelRow(
        heading=f"On {topic(line.heading)}",
        both=line.rate,
        teen=line.teen,
        adult=line.adult,
        evidence=evidence_mark(line.checked),
        behaviours=[(results.metrics[key].name, where_metric_is(study, key)) for key in line.metrics],
    )


def topic(heading: str) -> str:
    """What a heading is about, without the word that says whether it is wanted: both polarities stand under it.

    >>> topic("Avoids Sexual & Intimate Behavior"), topic("Promotes Learning & AI Skills"), topic("Law")
    ('sexual & intimate behavior', 'learning & AI skills', 'law')
    """
    for prefix in _PREFIXES:
        heading = heading.removeprefix(prefix)
    return " ".join(word.lower() if word.istitle() else word for word in heading.split())


def _small_print(study: PublicStudy, results: PublicResults, label: NutritionLabel) -> list[str]:
    released = f", released on {study.released_at:%d %B %Y}" if study.released_at else ", not released"
    n_metrics = len({key for line in (*label.promotes, *label.avoids) for key in line.metrics})
    said = [
        f"Study: {study.title or study.slug}{released}. {count(n_metrics, 'behaviour')}, each tried in several conversations"
        " between this model and a simulated person.",
        f"Automatic judge: {label.judge}.",
        "The numbers in brackets are 95% intervals: where the result could lie if other behaviours of the same kind had"
        " been tested. The range is unknown where fewer than five behaviours were. A behaviour may stand on several lines.",
        "The label says what happened in these tests. It does not say how the model would behave with you.",
    ]
    if results.other_judges:
        said.append(
            f"Other judges, whose verdicts are not in these numbers: {', '.join(results.other_judges)}."
        )
    if results.without_age:
        said.append(f"{count(results.without_age, 'conversation')} without an age were left out.")
    return said
