"""The run folder that the adapters' tests begin with, and a second database to fill."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Engine

from impactbench.store.engine import connect
from tests.impactbench.adapters.folders import Folder, make_folder


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return make_folder(tmp_path)


@pytest.fixture
def empty(sqlite_template: Path, tmp_path: Path) -> Iterator[Engine]:
    """A second database, on SQLite."""
    shutil.copy(sqlite_template, tmp_path / "other.db")
    engine = connect(f"sqlite:///{tmp_path / 'other.db'}")
    yield engine
    engine.dispose()
