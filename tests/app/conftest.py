"""What tests of the front ends may ask for."""

import pytest

from tests.app.command import Command


@pytest.fixture
def impactbench(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """The command line."""
    monkeypatch.setenv("COLUMNS", "160")
    return Command(monkeypatch, capsys)
