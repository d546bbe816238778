"""The content that comes with the program is found wherever the program is."""

from pathlib import Path

import pytest

from impactbench import resources


def test_there_are_three_domains_and_fourteen_subareas() -> None:
    subareas = resources.subareas()
    assert len({subarea.slug for subarea in subareas}) == len(subareas) == 14
    assert [subarea.domain for subarea in subareas] == ["Psychological"] * 5 + ["Physical"] * 4 + [
        "Social"
    ] * 5


@pytest.mark.parametrize(
    ("model", "family", "lineage"),
    [
        ("claude-haiku-4-5", "anthropic", "claude"),
        ("anthropic/claude-opus-4-6", "anthropic", "claude"),
        ("gpt-5-1", "openai", "gpt"),
        ("gpt-oss-120b", "openai", "gpt-oss"),
        ("o3-mini", "openai", "o"),
        ("gemini-2-5-pro", "google", "gemini"),
        ("Gemma-4-31B", "google", "gemma"),
        ("llama-4", "meta", "llama"),
        ("qwen3-80b", "alibaba", "qwen"),
        ("mixtral-8x7b", "mistral", "mistral"),
        ("deepseek-v3", "deepseek", "deepseek"),
        ("grok-4-1-reasoning", "xai", "grok"),
        ("kimi-k2", "moonshot", "kimi"),
        ("command-r-plus", "cohere", "command"),
        ("phi-4", "microsoft", "phi"),
    ],
)
def test_a_family_is_read_off_a_slug(model: str, family: str, lineage: str) -> None:
    known = resources.family_of(model)
    assert known is not None
    assert (known.family, known.lineage) == (family, lineage)


@pytest.mark.parametrize("model", ["tansy-2-large", "corvid-7", "unnamed-judge", "omega", ""])
def test_a_name_that_says_nothing_has_no_family(model: str) -> None:
    assert resources.family_of(model) is None


def test_no_prefix_is_in_the_table_twice() -> None:
    prefixes = [row.prefix for row in resources.families()]
    assert len(set(prefixes)) == len(prefixes)


def test_content_of_an_installation_comes_before_that_of_a_checkout(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed = tmp_path / "impactbench"
    (installed / "_data/suite").mkdir(parents=True)
    (installed / "_data/suite/subareas.yaml").write_text("installed")
    (tmp_path / "data/demo").mkdir(parents=True)
    monkeypatch.setattr(resources, "files", lambda _: installed)

    assert resources.content("suite/subareas.yaml").read_text() == "installed"
    assert resources.content("demo").is_dir()
    with pytest.raises(resources.ContentMissing, match="'suite/nothing' is missing from this installation"):
        resources.content("suite/nothing")
