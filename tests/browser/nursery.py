"""Where workbenches come from quickly: a process that has imported everything and forks one whenever it is asked.

Importing takes most of the time that `impactbench serve` takes to start, and the tests start it a hundred times. Each
child runs the very command, with an environment and a folder of its own, and may be killed like any other process.
Ends, and ends its children, when whoever asked is gone.
"""

import gc
import importlib
import json
import os
import signal
import sys
import traceback
from typing import Any, NoReturn

from streamlit.components.v2 import manifest_scanner

from tests.manifests import read_once

IMPORTED = (
    "app.cli.serve",
    "app.cli.demo",
    "app.server",
    "app.navigation",
    # What the server and a first visit would import.
    "anyio._backends._asyncio",
    "sqlite3",
    "streamlit.web.bootstrap",
    "uvicorn.main",
    "uvicorn.protocols.http.h11_impl",
)


def _become_a_workbench(wanted: dict[str, Any]) -> NoReturn:
    """Run the command in this process, as if it had been started by hand."""
    code = 1
    try:
        log = os.open(wanted["log"], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        nothing = os.open(os.devnull, os.O_RDONLY)
        for descriptor, source in enumerate((nothing, log, log)):
            os.dup2(source, descriptor)
        os.environ.clear()
        os.environ.update(wanted["environment"])
        os.chdir(wanted["folder"])
        sys.argv = ["impactbench", *wanted["arguments"]]
        importlib.import_module("app.cli").main()
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def main() -> None:
    for name in IMPORTED:
        importlib.import_module(name)
    read_once()
    manifest_scanner.scan_component_manifests()
    gc.collect()
    gc.freeze()  # what is never collected stays shared with the children
    children: set[int] = set()
    try:
        for line in sys.stdin.buffer:
            asked = json.loads(line)
            answer: int | None
            if "arguments" in asked:
                answer = os.fork()
                if not answer:
                    _become_a_workbench(asked)
                children.add(answer)
            elif asked["of"] not in children:
                answer = 0
            else:
                child, status = os.waitpid(asked["of"], 0 if asked["wait"] else os.WNOHANG)
                children.discard(child)
                answer = os.waitstatus_to_exitcode(status) if child else None
            sys.stdout.write(f"{json.dumps(answer)}\n")
            sys.stdout.flush()
    finally:
        for child in children:
            os.kill(child, signal.SIGKILL)


if __name__ == "__main__":
    main()
