"""`impactbench audit`: a whole audit of a judge from plain files, without a database."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from app.cli.review_tables import print_rows
from app.cli.terminal import err, out
from impactbench.domain import ImpactBenchError


class AuditRefused(ImpactBenchError):
    """An audit that cannot be made as asked; the text says what would be right."""


_Names = list[str] | None


def audit(
    ratings: Annotated[
        list[Path], typer.Option("--ratings", help="CSV or Parquet with what experts said; may be repeated.")
    ],
    verdicts: Annotated[
        list[Path], typer.Option("--verdicts", help="The same with what judges said; may be the same file.")
    ],
    metrics: Annotated[
        Path | None,
        typer.Option("--metrics", help="A table of metrics: metric_id, and polarity, name, benchmark."),
    ] = None,
    item: Annotated[
        _Names, typer.Option(help="Column of the item in the ratings; repeat it where several name one.")
    ] = None,
    rater: Annotated[
        str, typer.Option(help="Column of the rater; without one the file's name is the rater.")
    ] = "rater_id",
    label: Annotated[_Names, typer.Option(help="Column of the label; repeat it where files differ.")] = None,
    rater_column: Annotated[
        _Names, typer.Option(help="A column that is one rater, in a table with one row an item.")
    ] = None,
    verdict_item: Annotated[
        _Names, typer.Option(help="Column of the item in the verdicts; as in the ratings by default.")
    ] = None,
    judge: Annotated[
        str, typer.Option(help="Column of the judge; without one the file's name is the judge.")
    ] = "judge_id",
    verdict: Annotated[
        _Names, typer.Option(help="Column of the verdict; repeat it where files differ.")
    ] = None,
    judge_column: Annotated[
        _Names, typer.Option(help="A column that is one judge, in a table with one row an item.")
    ] = None,
    metric: Annotated[_Names, typer.Option(help="Column of the metric, in either kind of file.")] = None,
    metric_from: Annotated[
        str | None, typer.Option(help="COLUMN=REGEX whose first group is the metric: 'input_id=(.+)-[0-9]+'.")
    ] = None,
    target: Annotated[
        _Names, typer.Option(help="Column of the model behind an item, in either kind of file.")
    ] = None,
    polarity: Annotated[
        _Names, typer.Option(help="Column with positive or negative, where it goes by item.")
    ] = None,
    negative: Annotated[
        str | None, typer.Option(help="Items of negative polarity: COLUMN=PATTERN, such as type=contrast_*.")
    ] = None,
    by: Annotated[_Names, typer.Option(help="Column of groups to show apart.")] = None,
    scale: Annotated[
        str | None,
        typer.Option(help="All categories from worst to best, with numbers if they have any: 'no=-1,yes=1'."),
    ] = None,
    passes: Annotated[
        _Names, typer.Option(help="A category that passes (or: present); may be repeated.")
    ] = None,
    fails: Annotated[
        _Names, typer.Option(help="A category that fails (or: absent); the rest is borderline.")
    ] = None,
    ratings_say: Annotated[
        str, typer.Option(help="Whether ratings are a verdict, after polarity, or presence, before it.")
    ] = "verdict",
    verdicts_say: Annotated[str, typer.Option(help="The same of the verdicts.")] = "verdict",
    rename: Annotated[
        _Names, typer.Option(help="OLD=NEW: a word of an item or a model that another file writes otherwise.")
    ] = None,
    family: Annotated[_Names, typer.Option(help="NAME=FAMILY of a model or judge that is not known.")] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the judge card and the figures by group as JSON.")
    ] = False,
    html: Annotated[
        Path | None, typer.Option("--html", help="Write the audit as one HTML file, too.")
    ] = None,
) -> None:
    """Audit a judge from plain files: experts among themselves, the judge against them, its own family, its polarity.

    An empty cell is no label. What neither passes nor fails is borderline; nothing is guessed.
    """
    from reviews.files.audit import as_document, audit_files
    from reviews.files.reading import ItemColumns, Source
    from reviews.files.tables import FileOptions, NothingToAudit, read_file_tables

    items = tuple(item or ["item_id"])
    options = FileOptions(
        ratings=Source(
            kind="", item=items, who=rater, value=tuple(label or ["label"]), wide=tuple(rater_column or [])
        ),
        verdicts=Source(
            kind="verdict",
            item=tuple(verdict_item or items),
            who=judge,
            value=tuple(verdict or ["verdict"]),
            wide=tuple(judge_column or []),
        ),
        items=ItemColumns(
            metric=tuple(metric or ["metric_id"]),
            target=tuple(target or ["model"]),
            polarity=tuple(polarity or ["polarity"]),
            group=tuple(by or []),
            negative=negative,
            metric_from=metric_from,
        ),
        scale=scale,
        passes=tuple(passes or []),
        fails=tuple(fails or []),
        ratings_say="presence" if _says(ratings_say, "--ratings-say") else "verdict",
        verdicts_say="presence" if _says(verdicts_say, "--verdicts-say") else "verdict",
        rename=_pairs(rename, "--rename", "OLD=NEW"),
        families=_pairs(family, "--family", "NAME=FAMILY"),
    )
    for option, text, example in (
        ("--negative", negative, "COLUMN=PATTERN, such as type=contrast_*"),
        ("--metric-from", metric_from, "COLUMN=REGEX, such as 'input_id=(.+)-[0-9]+'"),
    ):
        if text is not None and "=" not in text:
            raise AuditRefused(f"{option} {text!r} must be {example}")
    try:
        tables = read_file_tables(ratings, verdicts, metrics=metrics, options=options)
    except NothingToAudit as reason:
        if as_json:
            out.print_json(json.dumps({"groups": [], "card": None, "not_audited": str(reason)}))
        raise
    for note in tables.notes:
        err.print(Text.assemble(("Note: ", "bold yellow"), note))
    found = audit_files(tables)
    named = {path.name: path.read_bytes() for path in (*ratings, *verdicts, *([metrics] if metrics else []))}
    document = as_document(found, tables, named)
    if html is not None:
        from reviews.report.rendering import as_html, drawings

        try:
            html.write_text(as_html(document, drawings(document)), encoding="utf-8")
        except OSError as error:
            raise AuditRefused(f"{html} cannot be written ({error.strerror}); name another file") from error
        err.print(f"Written: {html}", markup=False)
    if as_json:
        out.print_json(json.dumps({"groups": _groups(found), "card": document.card}))
        return
    for section in document.sections:
        if section.key in _LEFT_OUT:
            continue
        out.print(f"\n{section.title}", style="bold", markup=False)
        for sentence in (section.answer, *section.paragraphs):
            out.print(sentence, markup=False)
        for table in (*(picture.table for picture in section.pictures), *section.tables):
            if table.rows and table.caption not in _LONG:
                print_rows(table.caption, list(table.columns), [list(row) for row in table.rows])


_LEFT_OUT = {"frame", "plan", "checklists", "recompute", "differing"}
_LONG = {"Accuracy under every reading that counts"}


def _groups(found: Any) -> list[dict[str, Any]]:
    """Figures in the files' own categories, by group."""
    from reviews.report.card_numbers import number

    names = ("agreement", "alpha_ordinal", "alpha_nominal", "fleiss", "ac1", "bp")
    return [
        {
            "group": one.group,
            "n_items": one.experts.n_items,
            "n_ratings": one.experts.n_ratings,
            "experts": {name: number(getattr(one.experts, name)) for name in names},
            "judges": {name: number(getattr(one.judges, name)) for name in names} if one.judges else None,
            "judge_pairs": [
                {
                    "judges": list(map(str, pair)),
                    "exact": number(exact),
                    "kappa": number(one.judges.cohen[pair]),
                    "kappa_quadratic": number(one.judges.cohen_quadratic[pair]),
                }
                for pair, exact in one.judges_exact.items()
            ],
            "judges_and_experts": {
                name: number(getattr(one.judges_and_experts, name))
                for name in (
                    "kappa_quadratic",
                    "pearson",
                    "spearman",
                    "same_side",
                    "mean_absolute_difference",
                )
            }
            if one.judges_and_experts
            else None,
        }
        for one in found.graded
    ]


def _says(word: str, option: str) -> bool:
    if word not in ("verdict", "presence"):
        raise AuditRefused(f"{option} is {word!r}; it must be verdict or presence")
    return word == "presence"


def _pairs(given: _Names, option: str, shape: str) -> dict[str, str]:
    pairs = [one.rpartition("=")[::2] for one in given or []]
    if wrong := [one for one, (old, new) in zip(given or [], pairs, strict=True) if not old or not new]:
        raise AuditRefused(f"{option} {wrong[0]!r} must be {shape}")
    return dict(pairs)
