"""CSV that a spreadsheet shows and never computes: cells that could begin a formula are shielded, and read back whole.

A cell that begins with = + - @ (also in their full width), a tab or a line break gets an apostrophe in front, and so does
one that begins with apostrophes followed by such a sign. So every text has one shielded form and comes back from it.
"""

import csv
import io
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from impactbench.adapters import ImportRefused

_SIGNS = "=+\\-@\t\r\n＝＋－＠"
_BEGINS_A_FORMULA = re.compile(f"'*[{_SIGNS}]")
_IS_SHIELDED = re.compile(f"'+[{_SIGNS}]")


def shielded(text: str) -> str:
    """A text as a cell holds it.

    >>> shielded("=1+1"), shielded("'=1"), shielded("plain"), shielded("'quoted'")
    ("'=1+1", "''=1", 'plain', "'quoted'")
    """
    return f"'{text}" if _BEGINS_A_FORMULA.match(text) else text


def unshielded(cell: str) -> str:
    """The text that a cell stands for.

    >>> unshielded("'=1+1"), unshielded("''=1"), unshielded("'quoted'")
    ('=1+1', "'=1", "'quoted'")
    """
    return cell[1:] if _IS_SHIELDED.match(cell) else cell


def csv_text(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of texts as CSV: a header, shielded cells, lines that end in a line feed."""
    held = io.StringIO(newline="")
    writer = csv.writer(held, lineterminator="\n")
    writer.writerow([shielded(name) for name in columns])
    writer.writerows([shielded(cell) for cell in row] for row in rows)
    return held.getvalue()


def read_shielded_csv(path: Path, columns: Sequence[str]) -> Iterator[tuple[int, dict[str, str]]]:
    """The rows of a file that `csv_text` made, each with its number (the header is row 1).

    Raises:
        ImportRefused: the file cannot be read, has other columns, or a row has more or fewer cells than the header.
    """
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        raise ImportRefused(f"{path}: there is no such file") from None
    except (OSError, UnicodeDecodeError) as error:
        raise ImportRefused(f"{path}: the file cannot be read as UTF-8 text ({error})") from None
    csv.field_size_limit(sys.maxsize)
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        header = next(reader, [])
        if header != list(columns):
            missing = [name for name in columns if name not in header] or ["the usual order"]
            raise ImportRefused(f"{path}: the columns are not those of an export; {missing[0]!r} is missing")
        for number, record in enumerate(reader, start=2):
            if len(record) != len(header):
                raise ImportRefused(
                    f"{path}, row {number}: there are {len(record)} cells, there must be {len(header)}"
                )
            yield number, dict(zip(header, map(unshielded, record), strict=True))
    except csv.Error as error:
        raise ImportRefused(f"{path}, line {reader.line_num}: this is not valid CSV ({error})") from error
