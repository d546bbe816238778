"""How the command line speaks: results on standard output, everything said to the person on standard error."""

from contextlib import ExitStack
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

if TYPE_CHECKING:
    from sqlalchemy import Engine

out = Console(highlight=False, soft_wrap=True)
err = Console(stderr=True, highlight=False, soft_wrap=True)

opened = ExitStack()
"""What a command has opened; closed when it ends, however it ends."""


def complain(sentence: str) -> None:
    """Say what is wrong. The sentence may quote a file, so nothing in it is read as markup."""
    err.print(Text.assemble(("Error: ", "bold red"), sentence))


def open_database() -> "Engine":
    """The database that the settings name, which must be up to date; closed when the command ends."""
    from impactbench.settings import Settings
    from impactbench.store.engine import connect, require_current

    engine = connect(Settings().database_url)
    opened.callback(engine.dispose)
    require_current(engine)
    return engine
