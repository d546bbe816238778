"""The nutrition label of one model: what it promotes, what it avoids, and how well that was checked."""

from collections.abc import Iterator

from markupsafe import Markup

from app.public.nutrition_label import LabelRow, LabelText, as_fragment
from app.public.parts import Sheet, heading, link, note, text
from app.public.places import where_label_file_is, where_metric_is
from app.public.visit import Visit
from reviews.public.evidence_marks import evidence_mark
from reviews.public.nutrition import EVERYTHING, LabelLine, NutritionLabel, nutrition_labels
from reviews.public.releasing import PublicStudy
from reviews.public.results import PublicResults
from reviews.public.wording import count, in_hundred

FILES = {"html": "As a page (HTML)", "svg": "As a picture (SVG)", "png": "As a picture (PNG)"}
"""What a label can be taken along as."""
_PREFIXES = ("Avoids ", "Promotes ")
_TAKE = Markup('<section class="ib-screen-only">{}<ul class="ib-files">{}</ul>{}</section>')
_FILE = Markup("<li>{}</li>")


def label(visit: Visit) -> Sheet:
    """One model at a time; comparing them is another page's."""
    return Sheet("Nutrition label", _parts(visit))


def _parts(visit: Visit) -> Iterator[Markup]:
    found = label_in_view(visit)
    yield visit.choices.form()
    if found is None:
        yield text("Nothing of this study has been judged yet, so there is nothing to put on a label.")
        return
    yield as_fragment(found[1])
    yield _TAKE.format(
        heading("Take it with you"),
        Markup("").join(
            _FILE.format(link(words, where_label_file_is(visit.study, found[0], kind)))
            for kind, words in FILES.items()
        ),
        note("To print it, use the browser’s own print command: only the label goes on paper."),
    )


def label_in_view(visit: Visit) -> tuple[str, LabelText] | None:
    """The model that the address names, else the first, and its label; None where nothing was judged."""
    labels, results = nutrition_labels(visit.results), visit.results
    if not labels:
        return None
    model = visit.choices.one("Model", {one: results.names[one] for one in labels}, name="model")
    return model, label_text(visit.study, results, labels[model])


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
