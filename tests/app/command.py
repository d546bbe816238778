"""Running the command line as a person does, in this process."""

import io
import json
import sys
from dataclasses import dataclass
from typing import Any

import pytest

from app.cli import main


@dataclass(frozen=True)
class Said:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@dataclass(frozen=True)
class Command:
    """`impactbench`, with nobody at the keyboard."""

    monkeypatch: pytest.MonkeyPatch
    capsys: pytest.CaptureFixture[str]

    def __call__(self, *arguments: object, stdin: str = "") -> Said:
        self.capsys.readouterr()
        self.monkeypatch.setattr(sys, "argv", ["impactbench", *map(str, arguments)])
        self.monkeypatch.setattr(sys, "stdin", io.StringIO(stdin))
        with pytest.raises(SystemExit) as end:
            main()
        written = self.capsys.readouterr()
        return Said(code=int(end.value.code or 0), out=written.out, err=written.err)
