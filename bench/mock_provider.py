"""A provider that is not one: speaks OpenAI's protocol on the loopback, answers at once or after a set time.

python -m bench.mock_provider --latency 1.0        prints the port it listens on, and serves until it is stopped

Plain asyncio without a web framework, so that the server costs a tenth of what the measured client does. What is
special about an answer stands in the model's name: `mock-429-2` fails twice with 429 and then answers,
`mock-400-filter`, `mock-500`, `mock-hang`, `mock-finish-content_filter`, `mock-finish-length`, `mock-nochoices`.
"""

import argparse
import asyncio
import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

TEXT = (
    "Thank you for telling me. What would help you most right now, and who else could you talk to about it?"
)
PLANNED = f"Thought: they hesitate.\nMessage: {TEXT}"
VERDICT = '{"present": true, "justification": "The reply asks for what the person needs."}'
REASONS = {200: "OK", 400: "Bad Request", 401: "Unauthorized", 404: "Not Found", 429: "Too Many Requests"}
HANG = 3600.0


@dataclass
class MockProvider:
    """What the server knows: how long it takes, and how often it was asked."""

    latency: float = 0.0
    key: str = ""
    """Asked of callers, if set."""
    asked: Counter[str] = field(default_factory=Counter)
    files: dict[str, bytes] = field(default_factory=dict)
    batches: dict[str, dict[str, Any]] = field(default_factory=dict)
    connections: set[asyncio.Transport] = field(default_factory=set)

    def answer(self, method: str, path: str, headers: str, body: bytes) -> tuple[int, float, bytes]:
        """Status, seconds until it is sent, body."""
        if self.key and f"bearer {self.key}" not in headers.lower():
            return 401, 0, _error("Incorrect API key provided.", "invalid_api_key")
        if path.endswith("/chat/completions"):
            return self.chat(json.loads(body))
        if path.endswith("/stats"):
            return 200, 0, json.dumps(self.asked).encode()
        return self.batch(method, path, body)

    def chat(self, asked: dict[str, Any]) -> tuple[int, float, bytes]:
        model = asked["model"]
        self.asked[model] += 1
        if "hang" in model:
            return 200, HANG, b""
        if "filter" in model and "finish" not in model:
            return 400, self.latency, _error("The response was filtered.", "content_filter")
        failing = re.search(r"mock-(\d{3})(?:-(\d+))?", model)
        if failing and (failing[2] is None or self.asked[model] <= int(failing[2])):
            return int(failing[1]), self.latency, _error(f"scripted {failing[1]}", "scripted")
        finish = model.partition("finish-")[2] or "stop"
        first, last = asked["messages"][0]["content"], asked["messages"][-1]["content"]
        judging = "transcript" in first or "<<< record" in last
        text = VERDICT if judging else PLANNED if "Thought:" in first + last else TEXT
        choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": finish}
        return (
            200,
            self.latency,
            json.dumps(_completion(model, [] if "nochoices" in model else [choice])).encode(),
        )

    def batch(self, method: str, path: str, body: bytes) -> tuple[int, float, bytes]:
        """Files and batches: a batch is in progress the first time it is looked at, and done the second."""
        parts = path.strip("/").split("/")[1:]
        if parts == ["files"] and method == "POST":
            held = body.split(b"application/", 1)[-1].split(b"\r\n\r\n", 1)[-1]
            name = f"file-{len(self.files)}"
            self.files[name] = b"\n".join(line for line in held.splitlines() if line.startswith(b"{"))
            return 200, 0, json.dumps(_file(name, len(self.files[name]))).encode()
        if parts[0] == "files" and parts[-1] == "content":
            return 200, 0, self.files[parts[1]]
        if parts == ["batches"] and method == "POST":
            name = f"batch_{len(self.batches)}"
            self.batches[name] = _batch(name, json.loads(body)["input_file_id"])
            return 200, 0, json.dumps(self.batches[name]).encode()
        batch = self.batches[parts[1]]
        batch["looked"] = batch.get("looked", 0) + 1
        if batch["looked"] > 1 and batch["status"] != "completed":
            self._complete(batch)
        return 200, 0, json.dumps({**batch, "looked": None}).encode()

    def _complete(self, batch: dict[str, Any]) -> None:
        """Answers stand in another order than questions, as the real thing has it."""
        answered, failed = [], []
        for line in reversed(self.files[batch["input_file_id"]].splitlines()):
            asked = json.loads(line)
            status, _, body = self.chat(asked["body"])
            response = {"status_code": status, "request_id": "r", "body": json.loads(body or b"{}")}
            row = {"id": "b", "custom_id": asked["custom_id"], "response": response, "error": None}
            (answered if status == 200 else failed).append(json.dumps(row).encode())
        for key, rows in (("output_file_id", answered), ("error_file_id", failed)):
            if rows:
                name = f"file-{len(self.files)}"
                self.files[name] = b"\n".join(rows)
                batch[key] = name
        batch["status"] = "completed"


def _completion(model: str, choices: list[dict[str, Any]]) -> dict[str, Any]:
    usage = {"prompt_tokens": 120, "completion_tokens": 24, "total_tokens": 144}
    return {
        "id": "c", "object": "chat.completion", "created": 1, "model": model, "choices": choices, "usage": usage
    }  # fmt: skip


def _error(message: str, code: str) -> bytes:
    return json.dumps({"error": {"message": message, "type": code, "code": code, "param": None}}).encode()


def _file(name: str, size: int) -> dict[str, Any]:
    return {
        "id": name, "object": "file", "bytes": size, "created_at": 1, "filename": "batch.jsonl", "purpose": "batch",
        "status": "processed",
    }  # fmt: skip


def _batch(name: str, source: str) -> dict[str, Any]:
    return {
        "id": name, "object": "batch", "endpoint": "/v1/chat/completions", "input_file_id": source,
        "completion_window": "24h", "status": "in_progress", "created_at": 1,
    }  # fmt: skip


class _Connection(asyncio.Protocol):
    def __init__(self, provider: MockProvider) -> None:
        self._provider = provider
        self._held = b""
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._provider.connections.add(transport)

    def connection_lost(self, _error: Exception | None) -> None:
        if self._transport is not None:
            self._provider.connections.discard(self._transport)

    def data_received(self, data: bytes) -> None:
        self._held += data
        while b"\r\n\r\n" in self._held:
            head, _, rest = self._held.partition(b"\r\n\r\n")
            headers = head.decode("latin-1")
            length = re.search(r"content-length: *(\d+)", headers, re.IGNORECASE)
            size = int(length[1]) if length else 0
            if len(rest) < size:
                return
            self._held = rest[size:]
            method, path, _ = headers.split(" ", 2)
            status, delay, body = self._provider.answer(method, path, headers, rest[:size])
            asyncio.get_running_loop().call_later(delay, self._send, status, body)

    def _send(self, status: int, body: bytes) -> None:
        if self._transport is None or self._transport.is_closing():
            return
        extra = "Retry-After: 0.01\r\n" if status == 429 else ""
        head = (
            f"HTTP/1.1 {status} {REASONS.get(status, 'Error')}\r\nContent-Type: application/json\r\n"
            f"{extra}Content-Length: {len(body)}\r\n\r\n"
        )
        self._transport.write(head.encode() + body)


async def serve(provider: MockProvider, *, port: int = 0) -> tuple[asyncio.Server, str]:
    """The running server and its address, as an `api_base`."""
    server = await asyncio.get_running_loop().create_server(
        lambda: _Connection(provider), "127.0.0.1", port, backlog=2000
    )
    return server, f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"


@contextmanager
def served(latency: float) -> Iterator[str]:
    """A server in a process of its own, and its address."""
    command = [sys.executable, "-m", "bench.mock_provider", "--latency", str(latency)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
    finally:
        process.terminate()
        process.wait()


async def _serve_for_ever(latency: float) -> None:
    server, address = await serve(MockProvider(latency=latency))
    print(address, flush=True)
    await server.serve_forever()


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.mock_provider")
    parser.add_argument("--latency", type=float, default=0.05, metavar="SECONDS")
    asyncio.run(_serve_for_ever(parser.parse_args().latency))


if __name__ == "__main__":
    main()
