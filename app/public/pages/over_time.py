"""One behaviour over time: across wordings, judges and runs, with every change marked."""

from collections.abc import Iterator, Sequence

from markupsafe import Markup

from app.public.charts import Dot
from app.public.over_time_chart import Look, drawn
from app.public.parts import Sheet, answer, link, text
from app.public.picture import picture
from app.public.places import where_metric_is
from app.public.tables import Cell, table
from app.public.visit import Visit
from reviews.public.over_time import History, Point, histories, over_time
from reviews.public.results import PublicMetric, PublicResults
from reviews.public.wording import count, in_hundred


def over_time_page(visit: Visit) -> Sheet:
    """The behaviour and the model that the address names, else the first that was looked at more than once."""
    return Sheet("Over time", _parts(visit))


def _parts(visit: Visit) -> Iterator[Markup]:
    results = visit.results
    looks = histories(results)
    changing = [results.metrics[key].word for key, one in looks.items() if one.changes]
    asked = visit.asked.get("metric", "")
    by_word = results.by_word
    if looks and (changing or asked in by_word):
        offered = changing if asked in changing or asked not in by_word else [asked, *changing]
        word = visit.choices.one(
            "Behaviour", {one: by_word[one].name for one in offered}, name="metric", kept=True
        )
        yield from _metric(visit, results, by_word[word], looks[by_word[word].key])
        return
    yield visit.choices.form()
    if not looks:
        yield text("Nothing of this study has been judged yet, so there is nothing to follow.")
        return
    yield answer(
        "Nothing to follow yet: every behaviour was looked at once, in one wording, by one judge, in one run of each"
        " model.",
        "Results of a second run, of another judge or of a new wording will stand here beside the first.",
    )


def _metric(visit: Visit, results: PublicResults, metric: PublicMetric, look: History) -> Iterator[Markup]:
    points = over_time(results, metric.benchmark, metric.metric)
    names = {one.model: results.names.get(one.model, one.model) for one in points}
    model = visit.choices.one("Model", names, name="model")
    yield visit.choices.form()
    shown = [one for one in points if one.model == model]
    changes = sum(bool(one.changed) for one in shown)
    yield answer(
        f"{metric.name}: {count(len(shown), 'result')} for {names[model]}"
        + (
            f", with {count(changes, 'change')} in between."
            if changes
            else ", all under the same conditions."
        ),
        f"In all, {count(look.versions, 'wording')}, {count(look.judges, 'judge')} and at most"
        f" {count(look.runs, 'run')} of a model.",
    )
    yield text(
        "▼ marks a change of wording or judge: results after it cannot be compared with those before, and nothing joins them."
    )
    looks = tuple(
        Look(name=f"{n}. {one.run_made:%d %b %Y}", point=one) for n, one in enumerate(shown, start=1)
    )
    yield picture(
        visit,
        list(_lines(looks, checked=metric.checked.known)),
        title="Passed, share of conversations",
        alt=f"How often {names[model]} passed in each run, with the changes between runs; the table says the same",
        with_tools=lambda: drawn(looks),
    )
    yield table(
        ["Result", "Run", "Wording", "Judge", "Passed", "What has changed"],
        [_row(n, one, results) for n, one in enumerate(shown, start=1)],
        caption=f"The results of {names[model]} over time",
    )
    yield text(link("About this behaviour", where_metric_is(visit.study, metric.key)))


def _lines(looks: Sequence[Look], *, checked: bool) -> Iterator[Dot | str]:
    """The results from top to bottom, with what has changed before each."""
    for one in looks:
        if one.point.changed:
            yield f"▼ {' and '.join(one.point.changed)}"
        yield Dot(
            row=f"{one.name}, version {one.point.version}",
            promoted=True,
            rate=one.point.rate,
            checked=checked,
        )


def _row(number: int, one: Point, results: PublicResults) -> list[Cell | str]:
    return [
        Cell(text=f"{number}. {one.run_made:%d %b %Y}", whole=True),
        Cell(text=one.run, long=True),
        Cell(text=f"version {one.version}", whole=True),
        Cell(text=results.names.get(one.judge, one.judge), whole=True),
        Cell(text=f"{in_hundred(one.rate)}, {one.rate.n} scored", whole=True),
        Cell(text=f"▼ {' and '.join(one.changed)}" if one.changed else "nothing", long=True),
    ]
