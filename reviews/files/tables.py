"""Plain files of ratings and verdicts as the tables that an audit reads, so that no database is needed for one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from impactbench.adapters import ImportRefused
from impactbench.adapters.label_table import read_cells
from impactbench.domain import AssignmentReason, LabelStatus, LabelVerdict, Polarity
from impactbench.resources import family_of
from reviews.evidence import StudyTables
from reviews.files.reading import ItemColumns, Items, Said, Says, Source, read_source
from reviews.files.scale import Scale
from validation.intervals import LEAST_CLUSTERS

RATINGS = Source(kind="", item=("item_id",), who="rater_id", value=("label",))
VERDICTS = Source(kind="verdict", item=("item_id",), who="judge_id", value=("verdict", "present"))
WHOLE = "all items"
"""The metric of items that no file gives one."""
HALVED = "halved"
"""What a metric was before it became two, one for each polarity."""


class NothingToAudit(ImportRefused):
    """The files are sound, but there is nothing in them to compare."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileOptions:
    """How some files are to be read."""

    ratings: Source = RATINGS
    verdicts: Source = VERDICTS
    items: ItemColumns = field(default_factory=ItemColumns)
    scale: str | None = None
    passes: tuple[str, ...] = ()
    fails: tuple[str, ...] = ()
    ratings_say: Says = "verdict"
    verdicts_say: Says = "verdict"
    """Verdicts count after polarity; presence is turned into a verdict by the polarity of the item or metric."""
    rename: Mapping[str, str] = field(default_factory=dict)
    families: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FileTables:
    """What some files hold."""

    study: StudyTables
    """Labels as fail, borderline, pass, as a study would have them."""
    scale: Scale
    labels: pd.DataFrame
    """One row a rating in the files' own categories: unit, rater, value (a word of the scale or None), metric, group."""
    verdicts: pd.DataFrame
    """One row a verdict of a judge's first run: the same columns."""
    notes: tuple[str, ...]
    """What a reader must know about how the files were read."""


def read_file_tables(
    ratings: Sequence[Path], verdicts: Sequence[Path], *, metrics: Path | None = None, options: FileOptions
) -> FileTables:
    """Read and check whole files.

    Args:
        ratings, verdicts: CSV or Parquet files; a file may be both.
        metrics: a table of metrics with `metric_id`, and any of `polarity`, `name`, `benchmark`.
        options: what the columns are called and what the words mean.

    Raises:
        ImportRefused: the first thing found wrong, with file, line and value.
        NothingToAudit: nothing is wrong, and nothing can be compared.
    """
    items = Items()
    said = read_source(ratings, options.ratings, options.items, items=items, rename=options.rename)
    judged = read_source(verdicts, options.verdicts, options.items, items=items, rename=options.rename)
    seen = dict.fromkeys(one.word for one in (*said, *judged) if one.word)
    scale = Scale.parse(options.scale, passes=options.passes, fails=options.fails, seen=list(seen))
    for one in (*said, *judged):
        if one.word and scale.place(one.word) is None:
            raise ImportRefused(
                f"{one.where}: {one.word!r} is not one of the categories {', '.join(scale.words)}; mend it, empty the cell,"
                " or declare it with --scale"
            )
    about = _metrics(metrics, items, {one.item for one in (*said, *judged)})
    if not ({one.item for one in said if one.word} & {one.item for one in judged if one.word}):
        raise NothingToAudit(
            f"no item has both a rating and a verdict: ratings have items such as {_first(said)!r}, verdicts such as"
            f" {_first(judged)!r}; make them alike with --item, --verdict-item and --rename OLD=NEW"
        )
    known = _items(items, said + judged, about, options)
    notes = (*_metric_notes(known, about), *_family_notes(known, judged, options))
    return FileTables(
        study=StudyTables(
            metrics=_metric_frame(about, known),
            assignments=_assignments(said, known, scale, options),
            judgments=_judgments(judged, known, scale, options),
            decisions=pd.DataFrame(columns=["conversation_id", "metric_version_id", "verdict"]),
            conversations=_conversations(known),
        ),
        scale=scale,
        labels=_graded(said, known, scale, of="ratings"),
        verdicts=_graded(judged, known, scale, of="verdicts"),
        notes=notes,
    )


def family(model: str, families: Mapping[str, str]) -> str:
    """The family of a model: as told, else as the table of families has it, else unknown."""
    told = families.get(model)
    found = family_of(model)
    return told or (found.family if found else "")


def _half(metric: str, polarity: str) -> str:
    """What the items of one polarity of a metric are called."""
    return f"{polarity} items" if metric == WHOLE else f"{metric}, {polarity} items"


def _metrics(path: Path | None, items: Items, named: set[str]) -> dict[str, dict[str, str]]:
    """Each metric with what the table of metrics says of it."""
    used = {items.of(item, "metric") or WHOLE for item in sorted(named)}
    about: dict[str, dict[str, str]] = {metric: {} for metric in sorted(used)}
    if path is None:
        return about
    where, header, records = read_cells(path, ["metric_id"])
    if "metric_id" not in header:
        raise ImportRefused(f"{path} has no column 'metric_id'; it has {', '.join(map(repr, header))}")
    for place, record in records:
        row = dict(zip(header, (cell.strip() for cell in record), strict=True))
        if row.get("polarity", "positive") not in tuple(Polarity):
            raise ImportRefused(
                f"{path}, {where} {place}: the polarity is {row['polarity']!r}; it must be positive or negative"
            )
        if row["metric_id"] in about:
            about[row["metric_id"]] = row
    return about


def _items(
    items: Items, said: Sequence[Said], about: dict[str, dict[str, str]], options: FileOptions
) -> pd.DataFrame:
    """One row an item in order of appearance: conversation_id, metric_version_id, metric, polarity, model, family, group.

    A metric whose polarity goes by item becomes two in `about`, for a metric has one polarity.
    """
    names = list(dict.fromkeys(one.item for one in said))
    metric = {item: items.of(item, "metric") or WHOLE for item in names}
    polarity = {item: _polarity(items, item, about[metric[item]]) for item in names}
    for name in list(about):
        found = {polarity[item] for item in names if metric[item] == name} - {None}
        if len(found) > 1:
            row = about.pop(name)
            about |= {
                _half(name, one): row | {"polarity": one, "name": "", HALVED: name}
                for one in sorted(map(str, found))
            }
            metric |= {item: _half(name, str(polarity[item])) for item in names if metric[item] == name}
    version = {name: number for number, name in enumerate(about, start=1)}
    rows = []
    for number, item in enumerate(names, start=1):
        model = items.of(item, "model") or ""
        rows.append(
            {
                "item": item,
                "conversation_id": number,
                "metric_version_id": version[metric[item]],
                "metric": metric[item],
                "title": about[metric[item]].get("name") or metric[item],
                "polarity": polarity[item],
                "model": model,
                "family": family(model, options.families),
                "group": items.of(item, "group"),
            }
        )
    columns = list(rows[0]) if rows else ["item"]
    return pd.DataFrame(rows, columns=columns).astype(object).set_index("item")


def _polarity(items: Items, item: str, metric: Mapping[str, str]) -> str | None:
    found = items.of(item, "polarity") or metric.get("polarity")
    if found not in (*Polarity, None):
        raise ImportRefused(
            f"item {item!r} has the polarity {found!r}; it must be positive or negative, or follow from"
            " --negative COLUMN=PATTERN"
        )
    return found


def _conversations(known: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "conversation_id": known["conversation_id"].to_numpy(dtype=int),
            "run": "files",
            "conversation": known.index.to_numpy(),
            "metric_version_id": known["metric_version_id"].to_numpy(dtype=int),
            "age": None,
            "model": known["model"].to_numpy(),
            "family": known["family"].to_numpy(),
            "base_scenario": known.index.to_numpy(),
            "n_turns": None,
        }
    )


def _metric_frame(about: Mapping[str, Mapping[str, str]], known: pd.DataFrame) -> pd.DataFrame:
    polarity = known.groupby("metric")["polarity"].agg(lambda found: "/".join(sorted(set(found.dropna()))))
    return pd.DataFrame(
        [
            {
                "metric_version_id": number,
                "title": row.get("name") or metric,
                "name": row.get("name") or metric,
                "benchmark": row.get("benchmark", ""),
                "metric": metric,
                "version": 1,
                "polarity": polarity.get(metric, ""),
                "definition": row.get("definition", ""),
                "subareas": [],
                "superseded": False,
            }
            for number, (metric, row) in enumerate(about.items(), start=1)
        ]
    )


def _assignments(
    said: Sequence[Said], known: pd.DataFrame, scale: Scale, options: FileOptions
) -> pd.DataFrame:
    raters = {name: number for number, name in enumerate(dict.fromkeys(one.who for one in said), start=1)}
    facts = known.to_dict("index")
    rows = []
    for number, one in enumerate(said, start=1):
        item = facts[one.item]
        verdict = _verdict(one, item["polarity"], scale, options.ratings_say, "--ratings-say")
        rows.append(
            {
                "assignment_id": number,
                "review_set": "files",
                "origin": "import",
                "conversation_id": item["conversation_id"],
                "metric_version_id": item["metric_version_id"],
                "rater_id": raters[one.who],
                "rater": one.who,
                "panel": None,
                "repeat": one.repeat,
                "code": f"{one.item} {one.who} {one.repeat}",
                "position": number,
                "stratum": "",
                "inclusion_probability": None,
                "revision": 1 if verdict else None,
                "status": LabelStatus.SUBMITTED if verdict else "not_yet_rated",
                "label": verdict,
                "no_verdict_because": "",
                "confidence": None,
                "rationale": "",
                "turns": [],
                "active_seconds": None,
                "labelled_at": pd.NaT,
                "run": "files",
                "conversation": one.item,
                "age": None,
                "model": item["model"],
                "family": item["family"],
                "base_scenario": one.item,
                "title": item["title"],
                "polarity": item["polarity"],
                "reason": AssignmentReason.REPEAT if one.repeat else AssignmentReason.CORE,
                "released_at": pd.NaT,
            }
        )
    return pd.DataFrame(rows)


def _judgments(said: Sequence[Said], known: pd.DataFrame, scale: Scale, options: FileOptions) -> pd.DataFrame:
    judges = {name: number for number, name in enumerate(dict.fromkeys(one.who for one in said), start=1)}
    facts = known.to_dict("index")
    rows = []
    for one in said:
        item = facts[one.item]
        verdict = _verdict(one, item["polarity"], scale, options.verdicts_say, "--verdicts-say")
        passed = {LabelVerdict.PASS: True, LabelVerdict.FAIL: False}.get(verdict) if verdict else None
        present = passed if item["polarity"] != Polarity.NEGATIVE or passed is None else not passed
        between = "between pass and fail" if verdict is LabelVerdict.BORDERLINE else "no verdict"
        rows.append(
            {
                "conversation_id": item["conversation_id"],
                "metric_version_id": item["metric_version_id"],
                "judge_id": judges[one.who],
                "judge": one.who,
                "judge_family": family(one.who, options.families),
                "repeat": one.repeat,
                "present": present,
                "passed": passed,
                "unscored_because": between if passed is None else "",
                "justification": "",
            }
        )
    frame = pd.DataFrame(rows)
    frame[["present", "passed"]] = frame[["present", "passed"]].astype("boolean")
    return frame


def _verdict(one: Said, polarity: str | None, scale: Scale, says: Says, option: str) -> LabelVerdict | None:
    place = scale.place(one.word) if one.word else None
    if place is None:
        return None
    side = LabelVerdict(scale.side(place))
    if says == "verdict":
        return side
    if polarity is None:
        raise ImportRefused(
            f"{one.where}: {option} presence needs the polarity of item {one.item!r}: give it in a column (--polarity), in"
            " the table of --metrics, or by --negative COLUMN=PATTERN"
        )
    turned = {LabelVerdict.PASS: LabelVerdict.FAIL, LabelVerdict.FAIL: LabelVerdict.PASS}
    return turned.get(side, side) if polarity == Polarity.NEGATIVE else side


def _graded(said: Sequence[Said], known: pd.DataFrame, scale: Scale, *, of: str) -> pd.DataFrame:
    rows = [
        {
            "unit": one.item,
            "rater": one.who,
            "value": scale.words[place]
            if one.word and (place := scale.place(one.word)) is not None
            else None,
            "metric": known.loc[one.item, "metric"],
            "group": known.loc[one.item, "group"],
            "model": known.loc[one.item, "model"],
        }
        for one in said
        if one.repeat == 0
    ]
    if not rows:
        raise NothingToAudit(f"the files of {of} hold no row with repeat 0")
    return pd.DataFrame(rows).astype(object)


def _metric_notes(known: pd.DataFrame, about: Mapping[str, Mapping[str, str]]) -> tuple[str, ...]:
    halves = {name: row[HALVED] for name, row in about.items() if HALVED in row}
    numbers = known["metric"].value_counts()
    few = (
        "; figures over all of them have no interval, for metrics are the unit there and five are needed"
        if len(about) < LEAST_CLUSTERS
        else ""
    )
    by_item = tuple(
        f"polarity goes by item, so {whole} count as two metrics, "
        + " and ".join(f"{numbers.get(half, 0)} {half}" for half in halves if halves[half] == whole)
        + few
        for whole in dict.fromkeys(halves.values())
    )
    nameless = int((known["metric"].map(lambda name: halves.get(name, name)) == WHOLE).sum())
    if by_item or not nameless:
        return by_item
    if nameless == len(known):
        return (
            "no file names the metric of an item, so all items stand as one metric and intervals take them as independent",
        )
    return (
        f"{nameless} items have no metric and stand together as one; name it with --metric or --metric-from",
    )


def _family_notes(known: pd.DataFrame, judged: Sequence[Said], options: FileOptions) -> tuple[str, ...]:
    models = [model for model in known["model"].unique() if model]
    judges = list(dict.fromkeys(one.who for one in judged))
    unknown = [name for name in (*models, *judges) if not family(name, options.families)]
    if not models:
        return (
            "no file names the model behind an item, so nothing can be said about a judge and its own family",
        )
    if unknown:
        names = ", ".join(unknown)
        return (
            f"the family of {names} is not known and counts as its own; say it with --family NAME=FAMILY",
        )
    return ()


def _first(said: Sequence[Said]) -> str:
    return next((one.item for one in said if one.word), "none")
