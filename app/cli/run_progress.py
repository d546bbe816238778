"""How far a run is, while it goes on: bars on a terminal, a line every few seconds anywhere else; never silent."""

import threading
from types import TracebackType

from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bars

from app.cli.terminal import err
from impactbench.runs.execution import Progress
from impactbench.runs.state import Left

_BARS_EVERY = 0.5
_LINES_EVERY = 5.0


class RunProgress:
    """Shows a run in a thread of its own, since the longest silence is within a call, when nobody else has anything to say.

    Use it as `with`, and call it with the run's progress: once is enough, for that object grows.
    """

    def __init__(self, left: Left) -> None:
        self._left = left
        self._progress: Progress | None = None
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._tell, daemon=True)
        self._bars = Bars(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[said]}"),
            TimeElapsedColumn(),
            console=err,
            transient=True,
        )
        self._conversations = self._bars.add_task("Conversations", total=left.conversations, said="")
        self._judgments = self._bars.add_task("Judgments", total=left.judgments, said="")

    def __call__(self, progress: Progress) -> None:
        self._progress = progress

    def __enter__(self) -> "RunProgress":
        if err.is_terminal:
            self._bars.start()
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._thread.join()
        if err.is_terminal:
            self._bars.stop()

    def _tell(self) -> None:
        while not self._over.wait(_BARS_EVERY if err.is_terminal else _LINES_EVERY):
            if err.is_terminal:
                self._update()
            else:
                err.print(in_a_line(self._progress, self._left), markup=False)

    def _update(self) -> None:
        progress = self._progress
        if progress is None:
            return
        self._bars.update(
            self._conversations,
            completed=progress.conversations,
            said=f"{progress.incomplete:,} incomplete, {progress.under_way:,} units under way",
        )
        said = (
            f"{progress.unscored:,} unscored, {progress.failed:,} failed, {progress.spending.in_words} in all"
        )
        self._bars.update(self._judgments, completed=progress.judgments, said=said)


def in_a_line(progress: Progress | None, left: Left) -> str:
    """How far a run is, for a log."""
    if progress is None:
        return "Getting ready ..."
    return (
        f"{progress.conversations:,} of {left.conversations:,} conversations ({progress.incomplete:,} incomplete),"
        f" {progress.judgments:,} of {left.judgments:,} judgments ({progress.unscored:,} unscored),"
        f" {progress.failed:,} failed, {progress.under_way:,} units under way;"
        f" {progress.spending.in_words} in all."
    )
