"""How the command line speaks: results on standard output, everything said to the person on standard error."""

from rich.console import Console
from rich.text import Text
from sqlalchemy import Engine

from impactbench.settings import Settings
from impactbench.store.engine import connect, require_current

out = Console(highlight=False, soft_wrap=True)
err = Console(stderr=True, highlight=False, soft_wrap=True)


def complain(sentence: str) -> None:
    """Say what is wrong. The sentence may quote a file, so nothing in it is read as markup."""
    err.print(Text.assemble(("Error: ", "bold red"), sentence))


def open_database() -> Engine:
    """The database that the settings name, which must be up to date."""
    engine = connect(Settings().database_url)
    require_current(engine)
    return engine
