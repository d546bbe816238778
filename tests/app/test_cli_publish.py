"""From the platform's files to pages on disk, with three commands."""

import json
from pathlib import Path

import pytest

from tests.app.command import Command
from tests.impactbench.adapters.test_platform import SMALL


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
    assert f"pages of small (0.1 MB): open {site / 'index.html'}" in published.out
    label = (site / "small/label/tansy-2.html").read_text("utf-8")
    assert "Not checked by experts yet" in label
    assert "about 100% (too little data to say how far off)" in label

    assert impactbench("release-study", "small", "--withdraw").out == "small is shown no more.\n"
    assert impactbench("publish", site, "--study", "small").code == 1
    assert (site / "index.html").exists()
