"""What every test may ask for."""

from pathlib import Path

import pytest

from tests.material import REQUIRED, SHARED


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of shared material: real data for tests, never copied into the project."""
    if not SHARED.exists():
        message = f"the shared material is not at {SHARED}"
        pytest.fail(message) if REQUIRED else pytest.skip(message)
    return SHARED
