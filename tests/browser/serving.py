"""A workbench in a process of its own, which a test may restart or kill."""

import atexit
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from functools import cache
from pathlib import Path
from typing import Any

_START_SECONDS = 180
"""Far beyond what a start takes; on a machine that does much else it takes long."""
_PORTS = range(20_000, 32_000)
_BROWSERS = ("chromium", "chromium-browser", "google-chrome")
_WITHOUT = (
    "WebUIOmniboxPopup",  # two pages of Chromium's own for each new profile, which cost a second and are never seen
    "WebUIOmniboxAimPopup",
    "SpareRendererForSitePerProcess",
    # What Playwright switches off; of two such lists Chromium heeds the last.
    "AimEnabled",
    "AvoidUnnecessaryBeforeUnloadCheckSync",
    "DestroyProfileOnBrowserClose",
    "HttpsFirstBalancedModeAutoEnable",
    "HttpsUpgrades",
    "MediaRouter",
    "NetworkTimeServiceQuerying",
    "OptimizationHints",
    "PaintHolding",
    "PreconnectToSearch",
)
QUIET = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--disable-features=" + ",".join(_WITHOUT),
)


def chromium() -> str | None:
    return next((path for name in _BROWSERS if (path := shutil.which(name))), None)


def free_port() -> int:
    """A port for a server that may be gone for a while: below those that the system gives to whoever calls it meanwhile."""
    for port in random.SystemRandom().sample(_PORTS, 100):
        with socket.socket() as listener:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                listener.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise RuntimeError("no port is free")


class _Forked:
    """A workbench that the nursery brought forth, to be treated like one of `subprocess`."""

    def __init__(self, nursery: "_Nursery", arguments: list[str], **place: object) -> None:
        self._nursery = nursery
        self._code: int | None = None
        self.pid: int = nursery.ask(arguments=arguments, **place)

    def poll(self) -> int | None:
        """The exit code as soon as it has ended."""
        if self._code is None:
            self._code = self._nursery.ask(of=self.pid, wait=False)
        return self._code

    def send_signal(self, number: int) -> None:
        os.kill(self.pid, number)

    def wait(self) -> int:
        if self._code is None:
            self._code = self._nursery.ask(of=self.pid, wait=True)
        return int(self._code or 0)


class _Nursery:
    """The process that this one gets its workbenches from; it ends when this one does."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.browser.nursery"],
            cwd=Path(__file__).resolve().parents[2],
            env={**os.environ, "TERM": "dumb"},  # its children write into files
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        atexit.register(self._close)

    def ask(self, **what: object) -> Any:
        reader, writer = self._process.stdout, self._process.stdin
        if reader is None or writer is None:
            raise RuntimeError("the nursery was started without pipes")
        with self._lock:
            writer.write(json.dumps(what).encode() + b"\n")
            writer.flush()
            return json.loads(reader.readline())

    def _close(self) -> None:
        self._process.communicate()


@cache
def _nursery() -> _Nursery:
    return _Nursery()


def run_command(arguments: list[str], folder: Path) -> str:
    """Run a command of the program in a folder, to its end; gives what it said."""
    log = folder / "command.log"
    place = {"folder": str(folder), "log": str(log), "environment": dict(os.environ)}
    code = _Forked(_nursery(), arguments, **place).wait()
    said = log.read_text(encoding="utf-8")
    if code:
        raise RuntimeError(f"{' '.join(arguments)} ended with {code}:\n{said}")
    return said


class Workbench:
    """`impactbench serve` on a database, on a port that stays the same over restarts."""

    def __init__(self, database_url: str, folder: Path, *, by_command: bool = False) -> None:
        """`by_command` starts it as people do, which takes some seconds; else it comes from the nursery."""
        self.port = free_port()
        self.address = f"http://localhost:{self.port}"
        self.log = folder / "server.log"
        self._folder = folder
        self._by_command = by_command
        self._environment = {
            **os.environ,
            "IMPACTBENCH_DATABASE_URL": database_url,
            "IMPACTBENCH_STATE_DIR": str(folder / "state"),
            "IMPACTBENCH_BASE_URL": self.address,
        }
        self._process: subprocess.Popen[bytes] | _Forked | None = None

    def start(self) -> None:
        self._process = self._begin(["serve", "--port", str(self.port)])
        deadline = time.monotonic() + _START_SECONDS
        while time.monotonic() < deadline:
            if self._process.poll() is not None:
                break
            try:
                with urllib.request.urlopen(f"{self.address}/healthz", timeout=20) as answer:
                    if answer.status == 200:
                        return
            except OSError:
                time.sleep(0.1 if self._by_command else 0.02)
        raise RuntimeError(f"the workbench did not start:\n{self.log.read_text(errors='replace')}")

    def _begin(self, arguments: list[str]) -> "subprocess.Popen[bytes] | _Forked":
        if not self._by_command:
            place = {"folder": str(self._folder), "log": str(self.log), "environment": self._environment}
            return _Forked(_nursery(), arguments, **place)
        with self.log.open("ab") as log:
            command = [sys.executable, "-m", "app.cli", *arguments]
            return subprocess.Popen(command, env=self._environment, cwd=self._folder, stdout=log, stderr=log)

    def kill(self) -> None:
        """As a power cut: SIGKILL, nothing is cleaned up."""
        if self._process and self._process.poll() is None:
            self._process.send_signal(signal.SIGKILL)
            self._process.wait()

    def restart(self) -> None:
        self.kill()
        self.start()
