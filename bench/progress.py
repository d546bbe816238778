"""A line on the error stream while something takes longer than a few seconds."""

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

PATIENCE = 3.0
"""Seconds before the first line."""
ON_A_TERMINAL, IN_A_FILE = 1.0, 30.0
"""Seconds between lines: a terminal's line is written over, a file's stays."""


@contextmanager
def working(on: str) -> Iterator[None]:
    """Says what is being worked on and for how long, and takes the line away at the end."""
    done = threading.Event()
    watcher = threading.Thread(target=_watch, args=(on, done), daemon=True)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()


def _watch(on: str, done: threading.Event) -> None:
    started, terminal = time.perf_counter(), sys.stderr.isatty()
    wait = PATIENCE
    while not done.wait(wait):
        line = f"... {on}: {time.perf_counter() - started:.0f} s"
        print(
            f"\r\033[K{line}" if terminal else line, end="" if terminal else "\n", file=sys.stderr, flush=True
        )
        wait = ON_A_TERMINAL if terminal else IN_A_FILE
    if terminal:
        print("\r\033[K", end="", file=sys.stderr, flush=True)
