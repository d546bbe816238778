"""From the platform's files to pages on disk, with three commands."""

import json
from pathlib import Path

import pytest
from sqlalchemy import Engine

from impactbench.domain import Role
from impactbench.store import frames
from reviews.public.releasing import release_study
from tests.app.command import Command
from tests.impactbench.adapters.test_platform import SMALL
from tests.reviews.invented_study import add_judge, add_raters, add_study


def test_a_platform_is_imported_released_and_published(
    impactbench: Command, sqlite_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IMPACTBENCH_DATABASE_URL", sqlite_url)
    for name, content in SMALL.items():
        (tmp_path / name).write_text(json.dumps(content), "utf-8")
    imported = impactbench("import", "platform", tmp_path, "--study", "small")
    assert imported.code == 0, imported.err
    assert "the data do not name the judge" in imported.out
    assert "Nothing new" in impactbench("import", "platform", tmp_path, "--study", "small").out

    site = tmp_path / "site"
    refused = impactbench("publish", site)
    assert (refused.code, site.exists()) == (1, False)
    assert "Error: no study is released: release one with" in refused.err

    assert impactbench("release-study", "small").out == "small is public, without its conversations.\n"
    published = impactbench("publish", site)
    assert published.code == 0, published.err
    assert f"MB): open {site / 'index.html'}" in published.out
    label = (site / "small/label/tansy-2.html").read_text("utf-8")
    assert "Not checked by experts yet" in label
    assert "<h2>Tansy Two" in label
    assert "about 100% (range unknown)" in label

    assert impactbench("release-study", "small", "--withdraw").out == "small is shown no more.\n"
    assert impactbench("publish", site, "--study", "small").code == 1
    assert (site / "index.html").exists()


def test_a_case_is_marked_and_listed(
    impactbench: Command, sqlite_engine: Engine, sqlite_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IMPACTBENCH_DATABASE_URL", sqlite_url)
    add_study(sqlite_engine)
    add_judge(sqlite_engine)
    judged = frames.judgments(sqlite_engine, "winter").iloc[0]
    known = frames.metrics(sqlite_engine).set_index("metric_version_id").loc[judged["metric_version_id"]]
    mark = ["case", "mark", "winter", "--conversation", judged["conversation_id"], "--first", "1"]
    mark += ["--metric", f"kindness/{known['metric']}"]
    assert "there is no maintainer" in impactbench(*mark).err
    add_raters(sqlite_engine, "Maude", role=Role.MAINTAINER)
    assert "revision 1." in impactbench(*mark).out
    assert "revision 2." in impactbench(*mark, "--back", "1", "--note", "at once").out
    assert "exchange 4 is not in the conversation" in impactbench(*mark, "--back", "4").err
    assert "No case of winter can be shown" in impactbench("case", "list", "winter").out
    release_study(sqlite_engine, "winter", transcripts=True)
    assert "at once" in impactbench("case", "list", "winter").out
