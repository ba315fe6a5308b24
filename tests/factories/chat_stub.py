"""A chat completions server over real HTTP on the loopback address, doing what a script says.

Each entry of the script answers one request: a JSON body, a status with headers, raw bytes, a slow
answer, or a cut connection. The last entry repeats.
"""

import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Entry = Callable[["Handler"], None]


def said(text: str = "", calls: Sequence[tuple[str, str]] = (), **more: Any) -> Entry:
    """An answer with a text or tool calls (name and argument text)."""
    message: dict[str, Any] = {"role": "assistant", "content": text or None, **more}
    if calls:
        message["tool_calls"] = [
            {"id": f"c{n}", "type": "function", "function": {"name": name, "arguments": arguments}}
            for n, (name, arguments) in enumerate(calls)
        ]
    body = {
        "id": "x",
        "object": "chat.completion",
        "created": 0,
        "model": "tiny",
        "choices": [
            {"index": 0, "message": message, "finish_reason": "tool_calls" if calls else "stop"}
        ],
        "usage": {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18},
    }
    return lambda handler: handler.send(200, json.dumps(body).encode())


def failed(status: int, message: str = "no", headers: Mapping[str, str] | None = None) -> Entry:
    """An error in the usual form."""
    body = json.dumps({"error": {"message": message}}).encode()
    return lambda handler: handler.send(status, body, headers or {})


def raw(body: bytes) -> Entry:
    """A body as it is, under status 200."""
    return lambda handler: handler.send(200, body)


def cut(handler: "Handler") -> None:
    """The connection ends without an answer."""
    handler.close_connection = True
    handler.connection.close()


def when_told(gate: threading.Event, then: Entry) -> Entry:
    """An answer that waits until a gate opens."""

    def answer(handler: "Handler") -> None:
        gate.wait(20)
        then(handler)

    return answer


@dataclass
class Stub:
    """A running stub: its address, and what it was asked."""

    url: str
    script: list[Entry]
    asked: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    models: list[dict[str, Any]] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)


class Handler(BaseHTTPRequestHandler):
    """Answers by the script of its server."""

    protocol_version = "HTTP/1.1"
    # Head and body in one piece, at once, as servers of models send them: apart, the second waits
    # for the client's delayed acknowledgement, and every answer would come 40 ms late.
    wbufsize = -1
    disable_nagle_algorithm = True
    stub: Stub
    body: dict[str, Any]
    """Of the request that is being answered."""

    def do_POST(self) -> None:
        """Answer a completion."""
        body = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))))
        with self.stub.lock:
            self.body = body
            self.stub.asked.append(body)
            self.stub.keys.append(str(self.headers.get("authorization", "")))
            place = min(len(self.stub.asked), len(self.stub.script)) - 1
        self.stub.script[place](self)

    def do_GET(self) -> None:
        """List the models."""
        body = json.dumps({"object": "list", "data": self.stub.models}).encode()
        self.send(200, body)

    def send(self, status: int, body: bytes, headers: Mapping[str, str] | None = None) -> None:
        """Send one answer."""
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Stay silent."""


class Server(ThreadingHTTPServer):
    """Takes many connections at once."""

    daemon_threads = True
    request_queue_size = 256


@contextmanager
def chat_stub(*script: Entry) -> Iterator[Stub]:
    """Serve a script on a free port."""
    handler = type("ScriptedHandler", (Handler,), {})
    server = Server(("127.0.0.1", 0), handler)
    stub = Stub(f"http://127.0.0.1:{server.server_port}/v1", list(script))
    handler.stub = stub  # type: ignore[attr-defined]  # made just above
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield stub
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)
