"""`python -m training_app.engine.serve FOLDER --name CK-… --port N`: a checkpoint as a server.

It speaks the chat completions of OpenAI with tools, and what a model sees there is what it saw in
training, byte for byte: text beside calls stays, arguments stay the text they were, broken calls
come back as they were written. Requests that wait are answered together.

Invariants:
- Whatever a model writes is an answer, never an error of the server.
- An answer cut by its limit has no text and no calls, as it earns nothing in training; what was
  written stands in `reasoning_content`.
- The seed and the prompt of a request decide its draw, whoever else is answered beside it.
"""

import argparse
import json
import logging
import os
import queue
import signal
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import FrameType
from typing import Any, Final

import torch
from transformers import (
    LogitsProcessor,
    LogitsProcessorList,
    PreTrainedModel,
    PreTrainedTokenizerBase,
)

from studio.lib.hashing import bytes_hash
from training_app.core.recipe import ModelChoice
from training_app.engine.models import ModelError, load_folder
from training_app.engine.play import TOGETHER, batches, read_action, turn_limit

log = logging.getLogger("training_app.engine.serve")

LARGEST_BODY: Final = 16 * 1024 * 1024
GATHER: Final = 0.01
"""Seconds that the first of several requests waits for the others."""


class Refused(ValueError):
    """A request that cannot be answered; the message goes to whoever sent it."""


@dataclass(frozen=True)
class Asked:
    """One request as it is answered."""

    ids: tuple[int, ...]
    temperature: float
    top_p: float
    longest: int
    seed: int


@dataclass(frozen=True)
class Written:
    """What the model wrote."""

    text: str
    tokens: int
    cut: bool


@dataclass(eq=False)
class _Slip:
    """A request in the queue, and its answer once there is one."""

    asked: Asked
    done: threading.Event = field(default_factory=threading.Event)
    written: Written | None = None


class Draws(LogitsProcessor):
    """Adds the noise that makes the best token a fair draw; each row has a source of its own."""

    def __init__(self, asked: Sequence[Asked]):
        self._asked = asked
        self._sources = [
            torch.Generator().manual_seed(_source(one)) if one.temperature else None
            for one in asked
        ]

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        """Return the scores with noise; rows without temperature stay as they are."""
        noisy = scores.clone()
        for row, (one, source) in enumerate(zip(self._asked, self._sources, strict=True)):
            if source is None:
                continue
            warm = scores[row].float() / one.temperature
            if one.top_p < 1:
                warm = _nucleus(warm, one.top_p)
            even = torch.rand(warm.shape, generator=source).clamp_(min=1e-20)
            noisy[row] = (warm - torch.log(-torch.log(even)).to(warm.device)).to(scores.dtype)
        return noisy


def _source(one: Asked) -> int:
    """Of the prompt too: the episodes of a batch share their seeds, and must not share draws."""
    return int(bytes_hash(f"{one.seed}/{list(one.ids)}".encode())[:15], 16)


def _nucleus(scores: Any, top_p: float) -> Any:
    order = torch.argsort(scores, descending=True)
    shares = torch.softmax(scores[order], dim=-1)
    outside = torch.cumsum(shares, dim=-1) - shares > top_p
    return scores.index_fill(0, order[outside], float("-inf"))


class Writer:
    """The model: one thread of it answers what waits, together."""

    def __init__(
        self, model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, longest: int
    ) -> None:
        self.model = model.eval()
        self.tokenizer = tokenizer
        self.longest = longest
        self.room: int = model.config.max_position_embeddings
        self.answered = 0
        self.last = time.monotonic()
        self._waiting: queue.SimpleQueue[_Slip] = queue.SimpleQueue()
        self._chance = int.from_bytes(os.urandom(6), "big")

    def read(self, body: dict[str, Any]) -> Asked:
        """Read the body of a request. Raises Refused."""
        messages = [_message(given) for given in _list(body, "messages")]
        tools = body.get("tools") or None
        try:
            text = self.tokenizer.apply_chat_template(
                messages, tools=tools, add_generation_prompt=True, tokenize=False
            )
        except Exception as problem:  # whatever a template of any model raises on odd messages
            raise Refused(f"the chat template cannot write these messages: {problem}") from problem
        ids = self.tokenizer(text, add_special_tokens=False)["input_ids"]
        limit = body.get("max_completion_tokens") or body.get("max_tokens") or self.longest
        self._chance += 1
        return Asked(
            ids=tuple(ids),
            temperature=_number(body, "temperature", 1.0, 0.0, 10.0),
            top_p=_number(body, "top_p", 1.0, 0.0, 1.0),
            longest=min(int(limit), self.longest) if isinstance(limit, int) else self.longest,
            seed=body["seed"] if isinstance(body.get("seed"), int) else self._chance,
        )

    def ask(self, asked: Asked) -> Written:
        """Wait for the answer."""
        self.last = time.monotonic()
        slip = _Slip(asked)
        self._waiting.put(slip)
        slip.done.wait()
        self.last = time.monotonic()
        if slip.written is None:
            raise RuntimeError("the model broke on this request; the server's log says how")
        return slip.written

    def idle(self) -> float:
        """Seconds since anybody asked."""
        return time.monotonic() - self.last

    def work(self) -> None:
        """Answer for ever."""
        while True:
            slips = [self._waiting.get()]
            until = time.monotonic() + GATHER
            while len(slips) < TOGETHER:
                try:
                    slips.append(self._waiting.get(timeout=max(0.0, until - time.monotonic())))
                except queue.Empty:
                    break
            try:
                for slip, written in zip(slips, self.write([s.asked for s in slips]), strict=True):
                    slip.written = written
                self.answered += len(slips)
            except RuntimeError:  # out of memory above all: these get no answer, others may
                log.exception("%d requests got no answer", len(slips))
            finally:
                for slip in slips:
                    slip.done.set()

    @torch.no_grad()
    def write(self, asked: Sequence[Asked]) -> list[Written]:
        """Let the model go on after each prompt; one too long for it is cut before its first."""
        written = [Written("", 0, cut=True) for _ in asked]
        lengths, wanted = [len(one.ids) for one in asked], [one.longest for one in asked]
        for chosen in batches(lengths, wanted, self.room):
            for i, made in zip(chosen, self._generate([asked[i] for i in chosen]), strict=True):
                written[i] = made
        return written

    def _generate(self, asked: Sequence[Asked]) -> list[Written]:
        pad, end = self.tokenizer.pad_token_id, self.tokenizer.eos_token_id
        width = max(len(one.ids) for one in asked)
        device = self.model.device
        ids = torch.tensor([[pad] * (width - len(one.ids)) + list(one.ids) for one in asked])
        mask = torch.tensor([[0] * (width - len(one.ids)) + [1] * len(one.ids) for one in asked])
        made = self.model.generate(
            input_ids=ids.to(device),
            attention_mask=mask.to(device),
            max_new_tokens=min(max(one.longest for one in asked), self.room - width),
            pad_token_id=pad,
            eos_token_id=end,
            do_sample=False,
            logits_processor=LogitsProcessorList([Draws(asked)]),
        )
        return [
            self._written(row, one, end)
            for row, one in zip(made[:, width:].tolist(), asked, strict=True)
        ]

    def _written(self, row: list[int], one: Asked, end: int) -> Written:
        row = row[: one.longest]
        cut = end not in row
        kept = row if cut else row[: row.index(end)]
        return Written(self.tokenizer.decode(kept), len(kept) + (not cut), cut)


def completion(name: str, asked: Asked, written: Written) -> dict[str, Any]:
    """The answer as a chat completion."""
    message: dict[str, Any] = {"role": "assistant", "content": written.text}
    finish = "stop"
    if written.cut:
        message |= {"content": "", "reasoning_content": written.text}
        finish = "length"
    else:
        action = read_action(written.text)
        message["content"] = action.text
        if action.calls:
            finish = "tool_calls"
            message["tool_calls"] = [
                {
                    "id": call.id,
                    "type": "function",
                    "function": {
                        "name": call.name,
                        "arguments": call.arguments.decode("utf-8", errors="replace"),
                    },
                }
                for call in action.calls
            ]
    return {
        "id": f"answer-{bytes_hash(repr((asked, written)).encode())[:12]}",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": name,
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": {
            "prompt_tokens": len(asked.ids),
            "completion_tokens": written.tokens,
            "total_tokens": len(asked.ids) + written.tokens,
        },
    }


def _message(given: Any) -> dict[str, Any]:
    """A message as the engine's own player writes it: a text even where it is empty."""
    if not isinstance(given, dict) or not isinstance(given.get("role"), str):
        raise Refused("messages: each is an object with a role")
    content = given.get("content")
    if isinstance(content, list):
        if any(not isinstance(p, dict) or p.get("type") != "text" for p in content):
            raise Refused("messages: this model reads text only")
        content = "".join(str(part.get("text", "")) for part in content)
    message: dict[str, Any] = {"role": given["role"], "content": content or ""}
    if given.get("tool_calls"):
        message["tool_calls"] = [_call(call) for call in _list(given, "tool_calls")]
    if "tool_call_id" in given:
        message["tool_call_id"] = given["tool_call_id"]
    return message


def _call(given: Any) -> dict[str, Any]:
    """A call as the model wrote it: clients wrap what is no JSON, because other servers refuse."""
    function = given.get("function") if isinstance(given, dict) else None
    if not isinstance(function, dict) or not isinstance(function.get("arguments"), str):
        raise Refused("tool_calls: each has a function with a name and a text of arguments")
    arguments, name = function["arguments"], str(function.get("name", ""))
    if arguments.startswith('{"not_json": '):
        try:
            wrapped = json.loads(arguments)
        except ValueError:
            wrapped = None
        if isinstance(wrapped, dict) and list(wrapped) == ["not_json"]:
            arguments = str(wrapped["not_json"])
            name = "" if name == "unnamed" else name
    return {
        "id": given.get("id"),
        "type": "function",
        "function": {"name": name, "arguments": arguments},
    }


def _list(body: dict[str, Any], name: str) -> list[Any]:
    value = body.get(name)
    if not isinstance(value, list) or not value:
        raise Refused(f"{name}: must be a list that is not empty")
    return value


def _number(body: dict[str, Any], name: str, usual: float, low: float, high: float) -> float:
    value = body.get(name)
    if value is None:
        return usual
    if not isinstance(value, int | float) or isinstance(value, bool) or not low <= value <= high:
        raise Refused(f"{name}: must be between {low:g} and {high:g}")
    return float(value)


class Handler(BaseHTTPRequestHandler):
    """Answers requests; one thread each, so a slow model keeps nobody from asking."""

    protocol_version = "HTTP/1.1"
    writer: Writer
    name: str

    def do_GET(self) -> None:
        """Health and the one model."""
        if self.path == "/health":
            idle = round(self.writer.idle(), 3)
            self._send(
                200, {"status": "ok", "model": self.name, "asked": self.writer.answered,
                      "idle": idle},
            )  # fmt: skip
        elif self.path == "/v1/models":
            one = {"id": self.name, "object": "model", "owned_by": "studio",
                   "max_model_len": self.writer.room}  # fmt: skip
            self._send(200, {"object": "list", "data": [one]})
        else:
            self._fail(404, f"there is nothing at {self.path}")

    def do_POST(self) -> None:
        """A chat completion."""
        size = self.headers.get("content-length", "")
        if not size.isdigit() or int(size) > LARGEST_BODY:
            self.close_connection = True  # the body is not read
            return self._fail(413, f"a body has a length of at most {LARGEST_BODY} bytes")
        text = self.rfile.read(int(size))
        if self.path != "/v1/chat/completions":
            return self._fail(404, f"there is nothing at {self.path}")
        # A page of another site can post a form here, but not JSON.
        if not self.headers.get("content-type", "").startswith("application/json"):
            return self._fail(415, "send application/json")
        try:
            body = json.loads(text)
            if not isinstance(body, dict):
                raise Refused("the body must be an object")
            if body.get("model", self.name) != self.name:
                raise Refused(f"only {self.name} is served here")
            if body.get("stream"):
                raise Refused("stream: answers come whole")
            asked = self.writer.read(body)
        except (ValueError, RecursionError) as problem:
            return self._fail(400, str(problem)[:500] or "the body is no JSON")
        try:
            written = self.writer.ask(asked)
        except RuntimeError as problem:
            return self._fail(500, str(problem))
        return self._send(200, completion(self.name, asked, written))

    def _fail(self, status: int, message: str) -> None:
        self._send(status, {"error": {"message": message, "type": "refused", "code": status}})

    def _send(self, status: int, body: dict[str, Any]) -> None:
        data = json.dumps(body).encode()  # escapes half pairs of surrogates, which UTF-8 cannot
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: Any) -> None:
        """Stay silent: prompts and answers are kept by whoever asks."""


class Server(ThreadingHTTPServer):
    """Takes many connections at once."""

    daemon_threads = True
    request_queue_size = 256


def _watch(parent: int) -> None:
    """End with whoever started this, also where that was killed."""
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(1)


def main(arguments: list[str] | None = None) -> int:
    """Serve until a signal, or until the parent is gone."""
    parser = argparse.ArgumentParser(prog="python -m training_app.engine.serve")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--name", required=True, help="what the model is called")
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--longest", type=int, help="tokens of an answer")
    parser.add_argument("--parent", type=int, help="end when this process is gone")
    given = parser.parse_args(arguments)
    torch.set_num_threads(given.threads)
    try:
        loaded = load_folder(ModelChoice(init=str(given.folder)))
    except ModelError as problem:
        sys.stderr.write(f"{problem}\n")
        return 2
    writer = Writer(
        loaded.model.to(given.device), loaded.tokenizer, given.longest or turn_limit(loaded.model)
    )
    handler = type("CheckpointHandler", (Handler,), {"writer": writer, "name": given.name})
    server = Server(("127.0.0.1", given.port), handler)

    def stop(number: int, frame: FrameType | None) -> None:
        # not server.shutdown(): it waits for the loop that this signal interrupted
        os._exit(0)

    signal.signal(signal.SIGTERM, stop)
    threading.Thread(target=writer.work, daemon=True).start()
    if given.parent:
        threading.Thread(target=_watch, args=(given.parent,), daemon=True).start()
    sys.stderr.write(f"{given.name} is served at http://127.0.0.1:{server.server_port}/v1\n")
    server.serve_forever()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
