"""A workbench in a process of its own, which a test may restart or kill."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

_START_SECONDS = 180
"""Far beyond what a start takes; on a machine that does much else it takes long."""
_BROWSERS = ("chromium", "chromium-browser", "google-chrome")
QUIET = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
)


def chromium() -> str | None:
    return next((path for name in _BROWSERS if (path := shutil.which(name))), None)


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


class Workbench:
    """`impactbench serve` on a database, on a port that stays the same over restarts."""

    def __init__(self, database_url: str, folder: Path) -> None:
        self.port = free_port()
        self.address = f"http://localhost:{self.port}"
        self.log = folder / "server.log"
        self._folder = folder
        self._environment = {
            **os.environ,
            "IMPACTBENCH_DATABASE_URL": database_url,
            "IMPACTBENCH_STATE_DIR": str(folder / "state"),
            "IMPACTBENCH_BASE_URL": self.address,
        }
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        command = [sys.executable, "-m", "app.cli", "serve", "--port", str(self.port)]
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                command, env=self._environment, cwd=self._folder, stdout=log, stderr=log
            )
        deadline = time.monotonic() + _START_SECONDS
        while time.monotonic() < deadline:
            if self._process.poll() is not None:
                break
            try:
                with urllib.request.urlopen(f"{self.address}/healthz", timeout=2) as answer:
                    if answer.status == 200:
                        return
            except OSError:
                time.sleep(0.1)
        raise RuntimeError(f"the workbench did not start:\n{self.log.read_text(errors='replace')}")

    def kill(self) -> None:
        """As a power cut: SIGKILL, nothing is cleaned up."""
        if self._process and self._process.poll() is None:
            self._process.send_signal(signal.SIGKILL)
            self._process.wait()

    def restart(self) -> None:
        self.kill()
        self.start()
