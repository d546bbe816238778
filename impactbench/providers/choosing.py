"""Which provider a word on the command line means."""

from collections.abc import Mapping
from pathlib import Path

from impactbench.domain import ImpactBenchError
from impactbench.llm import Provider
from impactbench.providers.scripted import read_script

LITELLM = "litellm"
SCRIPTED = "scripted:"


class ProviderUnknown(ImpactBenchError):
    """A word that names no provider."""


def open_provider(
    name: str = LITELLM, *, endpoints: Mapping[str, str] | None = None, ledger: Path | None = None
) -> Provider:
    """`litellm` for real models and the embedded one, `scripted:FILE.yaml` for a script.

    Args:
        name: what was typed after `--provider`.
        endpoints: addresses of servers of one's own, by provider.
        ledger: where a script notes what it answered.

    Raises:
        ProviderUnknown: the name is neither.
        ModelsUnavailable: litellm is not installed.
        ScriptRefused: the script cannot be read.
    """
    if name.startswith(SCRIPTED):
        return read_script(Path(name.removeprefix(SCRIPTED)), ledger=ledger)
    if name == LITELLM:
        # Importing it takes seconds that a script should not pay.
        from impactbench.providers.litellm_provider import LiteLLMProvider

        return LiteLLMProvider(endpoints=endpoints)
    raise ProviderUnknown(f"{name!r} is no provider; choose {LITELLM} or {SCRIPTED}FILE.yaml.")
