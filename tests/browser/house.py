"""A running workbench to knock at: its people, what it keeps, and requests that no page makes."""

import asyncio
import http.client
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

from sqlalchemy import Engine
from sqlmodel import func, select

from impactbench.store import tables as t
from impactbench.store.engine import reading
from reviews.members.invitations import invite
from tests.browser.rater_client import sign_in
from tests.browser.serving import Workbench

RESULT_TABLES = (
    t.Submission,
    t.SubmissionReview,
    t.SubmissionOutcome,
    t.Label,
    t.Draft,
    t.Response,
    t.Adjudication,
    t.Mask,
    t.Assignment,
    t.Rater,
    t.Device,
)
Result = TypeVar("Result")


def run(work: Coroutine[None, None, Result]) -> Result:
    """What comes of a coroutine, on a thread of its own: a browser in this process has a loop running on this one."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, work).result()


@dataclass(frozen=True)
class House:
    """A running workbench with two experts and two readers."""

    bench: Workbench
    engine: Engine
    links: dict[str, str]

    @property
    def address(self) -> str:
        return self.bench.address

    def rows(self) -> list[int]:
        """How much there is of everything that a request could change."""
        with reading(self.engine) as session:
            return [session.exec(select(func.count()).select_from(table)).one() for table in RESULT_TABLES]

    def cookie(self, name: str) -> str:
        """The cookie of somebody who signs in on a new device."""
        return sign_in(invite(self.engine, name, base_url=self.address))

    def logged(self, since: int = 0) -> str:
        return self.bench.log.read_text(encoding="utf-8", errors="replace")[since:]


def ask(house: House, method: str, path: str, headers: dict[str, str] | None = None) -> tuple[int, str, str]:
    """(status, cookie that is set, body); the path is sent as it is."""
    connection = http.client.HTTPConnection("localhost", house.bench.port, timeout=20)
    try:
        connection.putrequest(method, path, skip_accept_encoding=True)
        for name, value in (headers or {}).items():
            connection.putheader(name, value)
        connection.endheaders()
        answer = connection.getresponse()
        return answer.status, answer.getheader("set-cookie") or "", answer.read().decode(errors="replace")
    finally:
        connection.close()
