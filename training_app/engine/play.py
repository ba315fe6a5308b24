"""A model plays tasks in our environment, many at a time.

Whatever it writes is data: a call that is no JSON goes to the world as it is and comes back as an
error; a reply cut by the budget ends the episode without reward.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import orjson
import torch
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from rollouts_app.core.environment import Environment
from rollouts_app.core.messages import ToolRequest
from rollouts_app.core.policy import Action
from tasks_app.core.results import GRADED
from tasks_app.core.spec import TaskSpec
from training_app.core.demonstrations import spoken

_CALL: Final = re.compile(r"<tool_call>\s*(.*?)\s*</tool_call>", re.DOTALL)
SHORTEST_LIMIT: Final = 48
"""Tokens that a turn may have at least: twice the longest of a pocket demonstration (21)."""
UNTAUGHT_LIMIT: Final = 512
"""Tokens of a turn of a model that nobody taught here."""
TOGETHER: Final = 40
"""Episodes played at a time."""


@dataclass(frozen=True, slots=True)
class Played:
    """What one episode came to."""

    spec: TaskSpec
    reward: float
    passed: bool
    truncated: bool
    contributions: Mapping[str, float]
    violations: tuple[str, ...]
    turns: int
    tokens: int
    messages: tuple[dict[str, Any], ...]

    def row(self) -> dict[str, Any]:
        """As a line of a samples file; its calls replay on the spec that stands beside them."""
        return {
            "spec_hash": self.spec.hash,
            "spec": self.spec.canonical().decode(),
            "slug": self.spec.slug,
            "family": self.spec.family,
            "reward": self.reward,
            "passed": self.passed,
            "truncated": self.truncated,
            "contributions": dict(self.contributions),
            "violations": list(self.violations),
            "turns": self.turns,
            "tokens": self.tokens,
            "messages": list(self.messages),
        }


def note_longest(model: PreTrainedModel, tokens: int) -> None:
    """Keep with a model how long the longest turn was that it was taught.

    One turn that runs on holds up all that are played with it, so a turn is cut at twice that
    length, in rollouts, evaluations and when served alike.
    """
    model.config.turn_limit = max(SHORTEST_LIMIT, 2 * tokens)


def taught_limit(model: PreTrainedModel) -> int | None:
    """Tokens after which a turn of a model is cut; None where it was not taught here."""
    limit = getattr(model.config, "turn_limit", None)
    return limit if isinstance(limit, int) and limit > 0 else None


def turn_limit(model: PreTrainedModel) -> int:
    """Tokens after which a turn of a model is cut."""
    return taught_limit(model) or UNTAUGHT_LIMIT


def read_action(text: str, asked: int = 0, tokens: int | None = None) -> Action:
    """Read what a model wrote as text and calls.

    Args:
        text: Its message, end marker taken off.
        asked: Calls made before in this episode, for ids.
        tokens: What it cost.
    """
    calls: list[ToolRequest] = []
    for written in _CALL.findall(text):
        name, arguments = "", written.encode("utf-8", errors="replace")
        try:
            body = orjson.loads(written)
        except orjson.JSONDecodeError:
            body = None
        if isinstance(body, dict) and isinstance(body.get("name"), str):
            name = body["name"]
            given = body.get("arguments", {})
            arguments = given.encode() if isinstance(given, str) else orjson.dumps(given)
        calls.append(ToolRequest(f"call_{asked + len(calls) + 1}", name, arguments))
    said = text.split("<tool_call>", 1)[0].strip() if calls else text
    return Action(said, tuple(calls), tokens)


class _Seat:
    """One episode while it is played."""

    def __init__(self, spec: TaskSpec):
        self.environment = Environment(spec)
        self.tools = orjson.loads(orjson.dumps(list(self.environment.tools)))
        self.asked = self.tokens = 0
        self.truncated = False

    def prompt(self, tokenizer: PreTrainedTokenizerBase) -> list[int]:
        text = tokenizer.apply_chat_template(
            [spoken(message) for message in self.environment.messages],
            tools=self.tools,
            add_generation_prompt=True,
            tokenize=False,
        )
        ids: list[int] = tokenizer(text, add_special_tokens=False)["input_ids"]
        return ids

    def hear(self, ids: Sequence[int], tokenizer: PreTrainedTokenizerBase) -> None:
        self.tokens += len(ids)
        if tokenizer.eos_token_id not in ids:
            self.truncated = True
            self.environment.halt("turn_limit")
            return
        text = tokenizer.decode(ids[: ids.index(tokenizer.eos_token_id)])
        action = read_action(text, self.asked, len(ids))
        self.asked += len(action.calls)
        self.environment.step(action)

    def played(self) -> Played:
        grade = self.environment.grade()
        lost = self.truncated
        return Played(
            spec=self.environment.spec,
            reward=0.0 if lost else grade.total,
            passed=grade.passed and not lost,
            truncated=lost,
            contributions=dict.fromkeys(GRADED, 0.0) if lost else grade.contributions,
            violations=grade.violations,
            turns=self.environment.turns,
            tokens=self.tokens,
            messages=tuple(spoken(message) for message in self.environment.messages),
        )


@torch.no_grad()
def play(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    specs: Sequence[TaskSpec],
    *,
    temperature: float,
    seed: int,
    on_turn: Callable[[int], None] | None = None,
) -> list[Played]:
    """Play each task once.

    Args:
        model: Left in the mode it was in.
        tokenizer: Its tokenizer.
        specs: The tasks.
        temperature: 0 is greedy.
        seed: Of the sampling; the caller's random state is left alone.
        on_turn: Told after each turn how many episodes are over.
    """
    was_training = model.training
    model.eval()
    played: list[Played] = []
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        for start in range(0, len(specs), TOGETHER):
            seats = [_Seat(spec) for spec in specs[start : start + TOGETHER]]
            while active := [seat for seat in seats if seat.environment.stop is None]:
                prompts = [seat.prompt(tokenizer) for seat in active]
                written = _write(model, tokenizer, prompts, temperature)
                for seat, ids in zip(active, written, strict=True):
                    seat.hear(ids, tokenizer)
                if on_turn is not None:
                    over = sum(seat.environment.stop is not None for seat in seats)
                    on_turn(len(played) + over)
            played += [seat.played() for seat in seats]
    model.train(was_training)
    return played


def batches(lengths: Sequence[int], wanted: Sequence[int], room: int) -> list[list[int]]:
    """Return which prompts are gone on from together, so that none takes another's room.

    A batch is as wide as its longest prompt. So a prompt that leaves no room for the longest
    answer goes alone, and one that leaves none at all is left out.

    Args:
        lengths: Tokens of each prompt.
        wanted: Tokens that may be written after each.
        room: Tokens that the model has positions for.
    """
    most = max(wanted, default=0)
    roomy = [i for i, length in enumerate(lengths) if length + most <= room]
    tight = [[i] for i, length in enumerate(lengths) if room - most < length < room]
    return [roomy, *tight] if roomy else tight


def _write(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    prompts: Sequence[Sequence[int]],
    temperature: float,
) -> list[list[int]]:
    """Let the model go on after each prompt up to its end marker; nothing where it has no room."""
    pad, end, limit = tokenizer.pad_token_id, tokenizer.eos_token_id, turn_limit(model)
    room = model.config.get_text_config().max_position_embeddings
    sampling = {"do_sample": True, "temperature": temperature, "top_k": 0, "top_p": 1.0}
    written: list[list[int]] = [[] for _ in prompts]
    for chosen in batches([len(p) for p in prompts], [limit] * len(prompts), room):
        width = max(len(prompts[i]) for i in chosen)
        short = [width - len(prompts[i]) for i in chosen]
        ids = torch.tensor(
            [[pad] * gap + list(prompts[i]) for i, gap in zip(chosen, short, strict=True)]
        )
        mask = torch.tensor([[0] * gap + [1] * (width - gap) for gap in short])
        made = model.generate(
            input_ids=ids.to(model.device),
            attention_mask=mask.to(model.device),
            max_new_tokens=min(limit, room - width),
            pad_token_id=pad,
            eos_token_id=end,
            **(sampling if temperature else {"do_sample": False}),
        )
        for i, row in zip(chosen, made[:, width:].tolist(), strict=True):
            written[i] = row[: row.index(end) + 1 if end in row else len(row)]
    return written
