"""How far a long command is, shown on a terminal and nowhere else."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
)

from app.cli.terminal import err


@dataclass(frozen=True, slots=True)
class Telling:
    """Called with how much is done and how much there is."""

    shown: Progress
    task: TaskID

    def __call__(self, done: int, total: int) -> None:
        self.shown.update(self.task, completed=done, total=total)

    def about(self, what: str) -> None:
        """Say that something else is being done now."""
        self.shown.update(self.task, description=what)


@contextmanager
def progress(what: str) -> Iterator[Telling]:
    """A line that moves while something is done, and is gone afterwards."""
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    with Progress(*columns, console=err, transient=True, disable=not err.is_terminal) as shown:
        yield Telling(shown, shown.add_task(what, total=None))


@contextmanager
def busy(what: str) -> Iterator[None]:
    """Say what is being done; on a terminal with a sign that moves and the time that has passed."""
    err.print(f"{what} ...")
    columns = SpinnerColumn(), TimeElapsedColumn()
    with Progress(*columns, console=err, transient=True, disable=not err.is_terminal) as shown:
        shown.add_task(what, total=None)
        yield
