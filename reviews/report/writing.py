"""A report as a folder: the page, the Markdown, the card, the pictures and the data; written whole or not at all."""

import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp

from reviews.report.composing import compose
from reviews.report.document import Document
from reviews.report.gathering import ReportRefused
from reviews.report.package import DATA, Package, as_files, read_package
from reviews.report.rendering import as_html, as_json, as_markdown, drawings
from reviews.report.schema import require_valid

CARD, PAGE, TEXT = "judge-card.json", "report.html", "report.md"


@dataclass(frozen=True, slots=True)
class Rendered:
    """A report and every file that shows it, without its data."""

    document: Document
    files: Mapping[str, bytes]


def render(package: Package, files: Mapping[str, bytes]) -> Rendered:
    """Compute a report and write out its files.

    Args:
        package: the data as read back from its files.
        files: these files.
    """
    document = compose(package, files)
    require_valid(document.card)
    drawn = drawings(document)
    shown = {
        CARD: as_json(document.card).encode(),
        PAGE: as_html(document, drawn).encode(),
        TEXT: as_markdown(document).encode(),
        **{f"figures/{name}.svg": f"{svg}\n".encode() for name, svg in drawn.items()},
    }
    return Rendered(document, shown)


Besides = Callable[[Rendered, Mapping[str, bytes]], Mapping[str, bytes]]
"""Further files of a folder by name, made from a report and its data."""


def write_report(package: Package, folder: Path, *, besides: Besides | None = None) -> Document:
    """Write the folder of a report. The same package, the same bytes.

    Args:
        package: the data.
        folder: must not exist yet, or be empty.
        besides: makes further files.

    Raises:
        ReportRefused: the folder holds something, or cannot be written.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ReportRefused(f"{folder} is there already and not empty; name another folder, or move it away")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        half_done = Path(mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    except OSError as error:
        raise ReportRefused(f"{folder} cannot be written ({error.strerror}); name another folder") from error
    try:
        files = as_files(package)
        _put(half_done / DATA, files)
        rendered = render(read_package(half_done / DATA), files)
        _put(half_done, {**rendered.files, **(besides(rendered, files) if besides else {})})
        half_done.chmod(0o755)
        if folder.exists():
            folder.rmdir()
        half_done.rename(folder)
    finally:
        shutil.rmtree(half_done, ignore_errors=True)
    return rendered.document


def _put(folder: Path, files: Mapping[str, bytes]) -> None:
    for name, held in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(held)
