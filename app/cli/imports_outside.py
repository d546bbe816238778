"""`impactbench import ...` for what other programs made: logs, transcripts, verdicts, labels."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from app.cli.terminal import open_database, out
from impactbench.adapters import ImportRefused
from impactbench.adapters.argilla_records import read_argilla
from impactbench.adapters.inspect_log import read_inspect_log
from impactbench.adapters.label_folder import read_label_folder
from impactbench.adapters.label_studio import read_label_studio
from impactbench.adapters.outside_conversations import OutsideImported, import_outside_study
from impactbench.adapters.ratings_table import RatingsImported, import_ratings_table
from impactbench.adapters.ratings_table_reading import RatingsTable
from impactbench.adapters.scout_validation import read_scout_validation
from impactbench.adapters.study_labels import keep_study_labels
from impactbench.adapters.vera_mh import read_vera_mh
from impactbench.adapters.verdict_table import COLUMNS, import_verdict_table, read_verdict_table
from impactbench.domain import Polarity

Study = Annotated[str, typer.Option(help="The study; named after the source by default.")]
Run = Annotated[str, typer.Option(help="What to call the run; named after the source by default.")]
NothingNew = "Nothing new: all of this was imported before, and nothing was changed."


def inspect(
    log: Annotated[Path, typer.Argument(help="A log of Inspect, .eval or .json.")],
    study: Study = "",
    run: Run = "",
    polarity: Annotated[
        Polarity, typer.Option(help="Whether what the scorers find correct is wanted.")
    ] = Polarity.POSITIVE,
) -> None:
    """Import a log of Inspect: samples as conversations, scores as a judge's verdicts."""
    engine = open_database()
    outside = read_inspect_log(log, polarity=polarity)
    _tell(import_outside_study(engine, outside, study=study, run=run or log.stem))


def vera(
    folder: Annotated[Path, typer.Argument(help="The folder of transcripts, ID_PERSONA_..._run1.txt.")],
    ratings: Annotated[Path | None, typer.Option(help="The clinicians' ratings, CSV.")] = None,
    study: Study = "",
    run: Run = "",
    without_transcripts: Annotated[
        bool, typer.Option("--without-transcripts", help="Take ratings of conversations that are not here.")
    ] = False,
) -> None:
    """Import VERA-MH: transcripts as conversations, clinicians' ratings as labels."""
    engine = open_database()
    outside = read_vera_mh(folder, ratings=ratings, without_transcripts=without_transcripts)
    _tell(import_outside_study(engine, outside, study=study, run=run))


def scout(
    file: Annotated[
        Path, typer.Argument(help="A validation table of Inspect Scout: id, target or label_...")
    ],
    study: Annotated[str, typer.Option(help="The study that the transcripts belong to.")],
    rater: Annotated[str, typer.Option(help="Who validated: the table does not say it.")],
    polarity: Annotated[Polarity, typer.Option(help="Whether what is true is wanted.")],
    without_transcripts: Annotated[
        bool, typer.Option("--without-transcripts", help="Take labels of transcripts that were not imported.")
    ] = False,
    leave_out_faulty: Annotated[
        bool, typer.Option("--leave-out-faulty", help="Pass over rows that are neither true nor false.")
    ] = False,
) -> None:
    """Import a validation table of Inspect Scout as labels; every row that cannot be one is named."""
    engine = open_database()
    table = read_scout_validation(file, rater=rater, polarity=polarity, leave_out_faulty=leave_out_faulty)
    told = polarity if without_transcripts else None
    _tell_labels(
        import_ratings_table(
            engine, table, study=study, without_transcripts=without_transcripts, polarity=told
        )
    )


def verdicts(
    file: Annotated[Path, typer.Argument(help=f"One row a verdict, CSV or Parquet: {', '.join(COLUMNS)}.")],
    study: Annotated[str, typer.Option(help="The study that has the conversations.")],
    judge: Annotated[str, typer.Option(help="The judge's model.")],
    judge_family: Annotated[str, typer.Option(help="The family of the judge's model.")] = "",
    prompt_hash: Annotated[str, typer.Option(help="Of the prompt that it judged with, where known.")] = "",
) -> None:
    """Import another judge's verdicts on conversations that are there. `present` is true, false, or empty."""
    engine = open_database()
    imported = import_verdict_table(
        engine,
        read_verdict_table(file),
        study=study,
        judge=judge,
        family=judge_family,
        prompt_hash=prompt_hash,
    )
    counts = ", ".join(f"{count:,} {word}" for word, count in sorted(imported.counts.items()))
    out.print(
        f"Study {imported.study}, judge {imported.judge}: {imported.read:,} verdicts read ({counts}),"
        f" {imported.added:,} added",
        markup=False,
    )
    if not imported.added:
        out.print(NothingNew)


def labels(
    source: Annotated[
        Path, typer.Argument(help="A folder of `export labels`, a Label Studio .json, or an Argilla .jsonl.")
    ],
    study: Annotated[str, typer.Option(help="The study; a folder names its own.")] = "",
    set_: Annotated[str, typer.Option("--set", help="What to call the review set; not for a folder.")] = "",
    map_: Annotated[
        list[str] | None, typer.Option("--map", help='What another word means, such as "Good=pass".')
    ] = None,
    without_transcripts: Annotated[
        bool, typer.Option("--without-transcripts", help="Take labels of items that were not imported.")
    ] = False,
    polarity: Annotated[Polarity | None, typer.Option(help="Of metrics known by their labels only.")] = None,
) -> None:
    """Import labels that were exported here, or that another program for annotation holds."""
    engine = open_database()
    if source.is_dir():
        if study or set_ or map_:
            raise ImportRefused(
                f"{source} names its own study and review sets: leave --study, --set and --map out"
            )
        kept = keep_study_labels(engine, read_label_folder(source), where=str(source))
        _tell_counts(f"Study {kept.study}", kept.read, kept.added)
        return
    if not study:
        raise ImportRefused(f"{source} does not say which study it belongs to: name it with --study")
    imported = import_ratings_table(
        engine,
        _table(source, map_ or []),
        study=study,
        name=set_,
        without_transcripts=without_transcripts,
        polarity=polarity,
    )
    _tell_labels(imported)


def _table(source: Path, map_: list[str]) -> RatingsTable:
    words = {}
    for pair in map_:
        name, sign, value = pair.rpartition("=")
        if not (name and sign and value):
            raise ImportRefused(f"--map is {pair!r}, it must be written WORD=MEANING")
        words[name] = value
    if source.suffix.casefold() == ".jsonl":
        return read_argilla(source)
    return read_label_studio(source, words=words)


def _tell(imported: OutsideImported) -> None:
    _tell_counts(f"Study {imported.study}, run {imported.run}", imported.read, imported.added)
    for note in imported.notes:
        out.print(f"Note: {note}.", markup=False)


def _tell_counts(title: str, read: Mapping[str, int], added: Mapping[str, int]) -> None:
    out.print(title, markup=False)
    table = Table("", "read", "added", "already there", box=None, pad_edge=False)
    for column in table.columns[1:]:
        column.justify = "right"
    for kind, count in read.items():
        if count:
            new = added.get(kind, 0)
            table.add_row(kind.replace("_", " "), f"{count:,}", f"{new:,}", f"{count - new:,}")
    out.print(table)
    if not any(added.values()):
        out.print(NothingNew)


def _tell_labels(imported: RatingsImported) -> None:
    statuses = ", ".join(f"{count:,} {status}" for status, count in sorted(imported.statuses.items()))
    out.print(f"Study {imported.study}, review set {imported.review_set}", markup=False)
    out.print(
        f"{imported.n_read:,} labels read ({statuses}): {imported.added:,} added, {imported.revised:,} revised,"
        f" {imported.already_there:,} already there, {sum(imported.skipped.values()):,} left out"
    )
    for reason, count in imported.skipped.items():
        out.print(f"  left out: {count:,} because {reason}", markup=False)
    for note in imported.notes:
        out.print(f"Note: {note}.", markup=False)
    if not imported.changed:
        out.print(NothingNew)
