"""The run folder that the adapters' tests begin with."""

from pathlib import Path

import pytest

from tests.impactbench.adapters.folders import Folder, make_folder


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return make_folder(tmp_path)
