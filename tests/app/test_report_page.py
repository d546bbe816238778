"""The report's page: nothing is computed before it is asked for, and what it hands out is the report."""

import html
import io
import json
import re
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
import streamlit as st
from sqlalchemy import Engine
from streamlit.testing.v1 import AppTest

from app import workspace
from impactbench.domain import Role
from impactbench.store import tables as t
from reviews.report.verifying import verify
from reviews.report.writing import CARD, PAGE
from tests.reviews.test_report import add_rated_study


def page() -> None:
    from app.views.report import report

    report()


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch, sqlite_engine: Engine) -> Callable[[], AppTest]:
    """The page on a small study whose texts are hostile."""
    add_rated_study(sqlite_engine)
    st.cache_data.clear()
    st.cache_resource.clear()
    monkeypatch.setattr(workspace, "person", lambda: t.Rater(id=1, pseudonym="Mo", role=Role.METHODOLOGIST))
    monkeypatch.setattr(workspace, "engine", lambda: sqlite_engine)
    return lambda: AppTest.from_function(page, default_timeout=120).run()


def test_the_page_hands_out_a_report_that_can_be_recomputed(
    shown: Callable[[], AppTest], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    held: dict[str, bytes] = {}
    handed = st.delta_generator.DeltaGenerator.download_button

    def keep(self: object, label: str, data: bytes, *rest: object, **named: object) -> object:
        held[label] = data
        return handed(self, label, data, *rest, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(st.delta_generator.DeltaGenerator, "download_button", keep)
    opened = shown()
    assert not opened.exception
    assert not held, "nothing is made before somebody asks"
    (button,) = [one for one in opened.button if one.label == "Make the report"]
    opened = button.click().run()
    assert not opened.exception
    assert any("The report is ready" in one.value for one in opened.markdown)
    card = json.loads(held["Judge card (JSON)"])
    assert [one.value for one in opened.text] == card["limits"]
    asked = [item["asked"] for items in card["checklists"].values() for item in items]
    tables = "".join(one.proto.body for one in opened.get("html"))
    assert [html.unescape(row) for row in re.findall(r"<th scope=\"row\"[^>]*>(.*?)</th>", tables)] == asked
    with zipfile.ZipFile(io.BytesIO(held["Everything (ZIP)"])) as archive:
        archive.extractall(tmp_path)
    assert (tmp_path / PAGE).read_bytes() == held["Report (HTML)"]
    assert (tmp_path / CARD).read_bytes() == held["Judge card (JSON)"]
    assert verify(tmp_path).differences == ()
