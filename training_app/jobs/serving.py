"""A checkpoint behind an address: its server is started, waited for, offered, and ended.

Invariants:
- The server is a process group of its own on the loopback address, and it ends with us: by a signal
  where we end properly, by itself where we were killed.
- A device has one user at a time: a server queues for it like a training run.
- What a server says of itself is checked before it is offered: it answers, and its probe is kept.
"""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final
from urllib.error import URLError
from urllib.request import ProxyHandler, build_opener

from django.conf import settings

from rollouts_app.policies import register
from studio.lib.chat import EndpointFailure
from studio.lib.chat_probe import probe
from studio.lib.jsonvalue import JsonObject
from studio.web.errors import Conflict, Invalid, NotFound, Problem, Unavailable
from studio.web.jobs import JobHandle
from tasks_app.models import ModelEndpoint
from tasks_app.operations.endpoints import open_client, record_probe
from training_app import launcher
from training_app.jobs.devices import holding
from training_app.models import Checkpoint
from training_app.operations.servings import register_serving, retire_dead, retire_serving
from training_app.queries.devices import device_of
from training_app.queries.runs import checkpoint_folder, get_checkpoint, recipe_of
from training_app.queries.servings import servable, served

PREFIX: Final = "checkpoint:"
START_SECONDS: Final = 300.0
"""A large model may take minutes to load."""
_TICK: Final = 0.25
_END_SECONDS: Final = 5.0
_LONGEST_ANSWER: Final = 1024
"""Tokens of an answer, but for cpu-tiny: that one keeps the limit it is measured under."""
_PROBE_SECONDS: Final = 120.0
_TAIL: Final = 1500

# An address of this machine is never behind its proxy.
_direct = build_opener(ProxyHandler({}))


class Checkpoints:
    """Policies ``checkpoint:CODE``: each batch serves its checkpoint and ends the server."""

    prefix = PREFIX
    # How fast it answers is this machine's doing, and training counts no seconds either.
    limits: JsonObject = {"seconds": 86_400}

    def offered(self) -> list[tuple[str, str]]:
        """The newest checkpoints whose weights are here."""
        return [
            (f"{PREFIX}{row.code}", f"{PREFIX}{row.code}: {row.run.code} at step {row.step}")
            for row in servable()
        ]

    def sampling(self, name: str) -> JsonObject:
        """Invalid where there is no such checkpoint, or its weights are gone."""
        try:
            checkpoint = get_checkpoint(name)
            ensure_servable(checkpoint)
        except (NotFound, Conflict) as problem:
            raise Invalid(
                "This batch cannot be started.", [Problem("policy", problem.detail)]
            ) from problem
        return {"model": checkpoint.code, "temperature": 1.0}

    @contextmanager
    def opened(self, name: str, handle: JobHandle) -> Iterator[ModelEndpoint]:
        """Serve it, or share the server that somebody keeps."""
        with opened(get_checkpoint(name), handle) as endpoint:
            yield endpoint


def ensure_servable(checkpoint: Checkpoint) -> None:
    """Conflict where its weights are not here."""
    folder = checkpoint_folder(checkpoint)
    if checkpoint.removed_at is None and (folder / "config.json").is_file():
        return
    words = "were removed" if checkpoint.removed_at is not None else "are not on this machine"
    raise Conflict(
        f"The weights of {checkpoint.code} {words}: take another checkpoint of "
        f"{checkpoint.run.code}, or run it again."
    )


@contextmanager
def opened(checkpoint: Checkpoint, handle: JobHandle) -> Iterator[ModelEndpoint]:
    """The endpoint of a checkpoint, for as long as the context lasts.

    Conflict without its weights, Unavailable where the server does not come up.
    """
    ensure_servable(checkpoint)
    retire_dead()
    shared = served(checkpoint)
    state = health(shared.base_url) if shared is not None else None
    if shared is not None and state is not None and state["model"] == checkpoint.code:
        yield shared
        return
    device = device_of(recipe_of(checkpoint.run))
    with (
        holding(handle, device, f"serving {checkpoint.code}"),
        _server(checkpoint, device, handle) as url,
    ):
        endpoint = register_serving(checkpoint=checkpoint, url=url, job_id=handle.job_id)
        try:
            _probe(endpoint)
            endpoint.refresh_from_db()
            yield endpoint
        finally:
            retire_serving(endpoint=endpoint, job_id=handle.job_id)


def keep(checkpoint: Checkpoint, handle: JobHandle, *, idle: float) -> int:
    """Serve a checkpoint until somebody stops the job, or nobody asks for so many seconds.

    Returns how many requests were answered.
    """
    with opened(checkpoint, handle) as endpoint:
        while True:
            handle.stop_if_cancelled()
            state = health(endpoint.base_url)
            if state is None:
                raise Unavailable(
                    f"The server of {checkpoint.code} is gone; see {_log(checkpoint)}"
                )
            asked = int(state["asked"])
            handle.progress(asked, None, f"{READY}{endpoint.base_url}")
            if state["idle"] >= idle:
                return asked
            time.sleep(_TICK)


READY: Final = "serves at "
"""How the note of a job begins whose server answers; its address follows."""


def health(base_url: str) -> dict[str, Any] | None:
    """What a server says of itself; None where it does not answer."""
    address = f"{base_url.removesuffix('/v1')}/health"
    try:
        with _direct.open(address, timeout=5) as answer:
            state = json.loads(answer.read())
    except (URLError, OSError, ValueError):
        return None
    known = isinstance(state, dict) and {"model", "asked", "idle"} <= set(state)
    return state if known else None


@contextmanager
def _server(checkpoint: Checkpoint, device: str, handle: JobHandle) -> Iterator[str]:
    """Start the server, and end it whatever happens."""
    port = _free_port()
    log = _log(checkpoint)
    log.parent.mkdir(parents=True, exist_ok=True)
    recipe = recipe_of(checkpoint.run)
    command = [
        *_command(),
        str(checkpoint_folder(checkpoint)),
        *("--name", checkpoint.code, "--port", str(port), "--device", device),
        *("--threads", str(min(os.cpu_count() or 1, 4)), "--parent", str(os.getpid())),
    ]
    if recipe.model.kind != "cpu-tiny":
        command += ["--longest", str(_LONGEST_ANSWER)]
    with log.open("wb") as output:
        process = subprocess.Popen(  # noqa: S603 - our own command, no shell
            command,
            cwd=log.parent,
            env=launcher.environment(recipe),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    url = f"http://127.0.0.1:{port}/v1"
    try:
        _wait_for_answer(checkpoint, url, handle, lambda: process.poll() is None)
        yield url
    finally:
        _end(process)


def _wait_for_answer(
    checkpoint: Checkpoint, url: str, handle: JobHandle, alive: Callable[[], bool]
) -> None:
    until = time.monotonic() + START_SECONDS
    while True:
        handle.stop_if_cancelled()
        handle.progress(0, None, f"loading {checkpoint.code}")
        state = health(url)
        if state is not None and state["model"] == checkpoint.code:
            return
        if not alive():
            raise Unavailable(
                f"The server of {checkpoint.code} ended at once: {_last_words(checkpoint)}"
            )
        if time.monotonic() > until:
            raise Unavailable(
                f"{checkpoint.code} did not answer within {START_SECONDS:.0f} s; its log is "
                f"{_log(checkpoint)}."
            )
        time.sleep(_TICK)


def _probe(endpoint: ModelEndpoint) -> None:
    client = open_client(endpoint, timeout=_PROBE_SECONDS)
    try:
        found = probe(client)
    except EndpointFailure as failure:
        raise Unavailable(f"{endpoint.model} answers nothing: {failure.message}") from failure
    finally:
        client.close()
    record_probe(by=None, endpoint=endpoint, found=found)


def _end(process: "subprocess.Popen[bytes]") -> None:
    for number in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, number)
        with suppress(subprocess.TimeoutExpired):
            process.wait(timeout=_END_SECONDS)
            return


def _command() -> list[str]:
    """The engine's command as it is set up here, with its server instead."""
    given = list(settings.STUDIO_ENGINE) or [sys.executable, "-m", "training_app.engine"]
    return [*given[:-1], given[-1].replace("training_app.engine", "training_app.engine.serve")]


def _free_port() -> int:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe_socket:
        probe_socket.bind(("127.0.0.1", 0))
        port: int = probe_socket.getsockname()[1]
        return port


def _log(checkpoint: Checkpoint) -> Path:
    return Path(settings.VAR_DIR) / "servings" / f"{checkpoint.code}.log"


def _last_words(checkpoint: Checkpoint) -> str:
    try:
        text = _log(checkpoint).read_text(encoding="utf-8", errors="replace")
    except OSError:
        text = ""
    if "No module named" in text:
        return (
            "the train extra is not installed here. Install it (CONTRIBUTING.md), or name in "
            "STUDIO_ENGINE a Python that has it."
        )
    return text.strip()[-_TAIL:] or f"it said nothing; its log is {_log(checkpoint)}"


register(Checkpoints())
