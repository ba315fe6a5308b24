"""A trajectory: the recorded turns of an episode, and the compressed JSON lines it is stored as.

Invariants:
- A line a turn; arguments and observations are embedded as the bytes that crossed the boundary.
- Changes of records are not stored: a replay makes them again. Every call carries the state key
  before it, so a replay that diverges says where.
- A damaged line never hides its neighbours: it is kept raw, with what is wrong with it.
"""

from dataclasses import dataclass, field
from typing import Any, Final

import orjson
import zstandard

FORMAT: Final = "coworker-trajectory/1"
LARGEST: Final = 256 * 1024 * 1024
"""Bytes of a decompressed trajectory; more is refused."""
_LEVEL: Final = 3


@dataclass(frozen=True, slots=True)
class RecordedCall:
    """One tool call as it was recorded."""

    id: str
    name: str
    arguments: bytes
    observation: bytes
    error: str | None
    state_key: str
    """32 hex digits: the records before the call."""
    anchor_key: str
    """32 hex digits: state key and the distinct successful reads before the call."""


@dataclass(frozen=True, slots=True)
class RecordedTurn:
    """One policy message with the observations that answer it."""

    index: int
    """From 0."""
    stage: str
    text: str = ""
    calls: tuple[RecordedCall, ...] = ()
    ends_stage: bool = False
    """Whether its text was the reply that ended the stage."""
    heard: str = ""
    """What was said back: the colleague's answer, or the notification of the next stage."""
    tokens: int | None = None
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class DamagedTurn:
    """A stored line that cannot be read."""

    index: int
    raw: bytes
    problem: str


@dataclass(frozen=True, slots=True)
class Trajectory:
    """All turns of an episode, and what they were recorded on."""

    spec_hash: str
    policy: str
    seed: int
    turns: tuple[RecordedTurn | DamagedTurn, ...] = ()
    stop: str = ""
    """Why the episode ended; empty where the end was not recorded."""
    end_key: str = ""
    """State key at the end."""
    damage: tuple[str, ...] = field(default=())
    """What is wrong with the file as a whole."""

    @property
    def calls(self) -> int:
        """How many calls the readable turns hold."""
        return sum(len(turn.calls) for turn in self.turns if isinstance(turn, RecordedTurn))


def key_text(key: int) -> str:
    """Write a state key or anchor key."""
    return f"{key:032x}"


def encode(trajectory: Trajectory) -> bytes:
    """Return the trajectory as zstd-compressed JSON lines."""
    lines = [
        _line(
            {
                "format": FORMAT,
                "spec_hash": trajectory.spec_hash,
                "policy": trajectory.policy,
                "seed": trajectory.seed,
            }
        )
    ]
    lines.extend(
        turn.raw if isinstance(turn, DamagedTurn) else turn_json(turn) for turn in trajectory.turns
    )
    lines.append(_line({"end": {"stop": trajectory.stop, "state_key": trajectory.end_key}}))
    return zstandard.ZstdCompressor(level=_LEVEL).compress(b"\n".join(lines) + b"\n")


def _line(body: dict[str, Any]) -> bytes:
    return orjson.dumps(body)


def turn_json(turn: RecordedTurn) -> bytes:
    """Return one turn as JSON, for the API and exports."""
    return _line(_turn_body(turn))


def _turn_body(turn: RecordedTurn) -> dict[str, Any]:
    body: dict[str, Any] = {"turn": turn.index, "stage": turn.stage}
    if turn.text:
        body["text"] = turn.text
    if turn.calls:
        body["calls"] = [_call_body(call) for call in turn.calls]
    if turn.ends_stage:
        body["ends_stage"] = True
    if turn.heard:
        body["heard"] = turn.heard
    if turn.tokens is not None:
        body["tokens"] = turn.tokens
    if turn.seconds is not None:
        body["seconds"] = turn.seconds
    return body


def _call_body(call: RecordedCall) -> dict[str, Any]:
    body: dict[str, Any] = {"id": call.id, "name": call.name}
    if _is_json(call.arguments):
        body["arguments"] = orjson.Fragment(call.arguments)
    else:  # what a policy writes need not be JSON; it is kept as it was
        body["arguments_text"] = call.arguments.decode("utf-8", errors="backslashreplace")
    body["result"] = orjson.Fragment(call.observation)
    if call.error is not None:
        body["error"] = call.error
    body["state_key"] = call.state_key
    body["anchor_key"] = call.anchor_key
    return body


def _is_json(text: bytes) -> bool:
    if b"\n" in text:  # a raw line break would tear the line apart
        return False
    try:
        orjson.loads(text)
    except orjson.JSONDecodeError:
        return False
    return True


def decode(stored: bytes) -> Trajectory:
    """Read a stored trajectory; what cannot be read is marked, the rest is kept."""
    text, damage = _decompress(stored)
    lines = text.split(b"\n")
    if lines and not lines[-1]:
        lines.pop()
    head: dict[str, Any] = {}
    end: dict[str, Any] | None = None
    turns: list[RecordedTurn | DamagedTurn] = []
    for number, line in enumerate(lines):
        try:
            body = _object(orjson.loads(line))
            if number == 0 and "format" in body:
                head = body
                if body["format"] != FORMAT:
                    damage.append(f"written as {body['format']!r}; this studio reads {FORMAT!r}")
            elif "end" in body:
                end = _object(body["end"])
            else:
                turns.append(_read_turn(body))
        except (ValueError, KeyError, TypeError) as problem:
            reason = str(problem) if not isinstance(problem, KeyError) else f"no {problem}"
            turns.append(DamagedTurn(len(turns), line, reason))
    seed = head.get("seed", 0)
    if not isinstance(seed, int):
        damage.append(f"the seed {seed!r:.40} is no number")
        seed = 0
    if not head:
        damage.append("the opening line is missing")
    if end is None:
        damage.append("the closing line is missing: the recording is short")
        end = {}
    return Trajectory(
        spec_hash=str(head.get("spec_hash", "")),
        policy=str(head.get("policy", "")),
        seed=seed,
        turns=tuple(turns),
        stop=str(end.get("stop", "")),
        end_key=str(end.get("state_key", "")),
        damage=tuple(damage),
    )


def _decompress(stored: bytes) -> tuple[bytes, list[str]]:
    """Decompress as much as can be read."""
    reader = zstandard.ZstdDecompressor().stream_reader(stored)
    pieces: list[bytes] = []
    size = 0
    damage: list[str] = []
    try:
        while piece := reader.read(1 << 20):
            size += len(piece)
            if size > LARGEST:
                damage.append(f"larger than {LARGEST:,} bytes")
                break
            pieces.append(piece)
    except zstandard.ZstdError as problem:
        damage.append(f"the compressed file is damaged: {problem}")
    return b"".join(pieces), damage


def _object(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError(f"expected an object, found {value!r:.40}")
    return value


def _read_turn(body: dict[str, Any]) -> RecordedTurn:
    return RecordedTurn(
        index=int(body["turn"]),
        stage=str(body["stage"]),
        text=str(body.get("text", "")),
        calls=tuple(_read_call(_object(call)) for call in body.get("calls", ())),
        ends_stage=bool(body.get("ends_stage", False)),
        heard=str(body.get("heard", "")),
        tokens=body.get("tokens"),
        seconds=body.get("seconds"),
    )


def _read_call(body: dict[str, Any]) -> RecordedCall:
    written = body.get("arguments_text")
    return RecordedCall(
        id=str(body["id"]),
        name=str(body["name"]),
        arguments=(orjson.dumps(body["arguments"]) if written is None else str(written).encode()),
        observation=orjson.dumps(body["result"]),
        error=body.get("error"),
        state_key=str(body["state_key"]),
        anchor_key=str(body["anchor_key"]),
    )
