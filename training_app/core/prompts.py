"""RL prompts: approved specs as rows, each with the group and the seed it is rolled out under.

A prompt is the whole spec: the engine opens its world itself, so a run needs no database.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, TypedDict

import orjson

from rollouts_app.core.environment import Environment
from studio.lib.hashing import bytes_hash, content_hash
from tasks_app.core.spec import TaskSpec, load_spec

KEY_DIGITS: Final = 12


class Prompt(TypedDict):
    """One prompt of an RL dataset."""

    prompt: list[dict[str, Any]]
    """System prompt and request."""
    spec: str
    """The spec as canonical JSON text."""
    spec_hash: str
    toolset: str
    """Key of the offered tools: prompts of one key share an environment class."""
    group: str
    """All rollouts of one prompt are compared with each other."""
    seed: int


class PromptError(ValueError):
    """A task that RL cannot train on; the message says why."""


def toolset_key(tools: Iterable[Mapping[str, Any]]) -> str:
    """The key of a list of tool declarations: equal declarations in equal order, equal key."""
    return content_hash([dict(tool) for tool in tools])[:KEY_DIGITS]


def prompt_of(spec: TaskSpec, seed: int = 0) -> Prompt:
    """Return a task as a prompt.

    Raises PromptError for a task of several sittings, or one whose colleague can be reached by
    dialogue alone: a trainer's loop ends at the first reply without calls.
    """
    if len(spec.stages) > 1:
        raise PromptError(f"{spec.slug}: several sittings; use it for SFT and evaluation")
    if spec.user is not None and "message_user" not in spec.tools:
        raise PromptError(f"{spec.slug}: the colleague needs the tool message_user")
    environment = Environment(spec)
    return {
        "prompt": [message.as_chat() for message in environment.messages],
        "spec": spec.canonical().decode(),
        "spec_hash": spec.hash,
        "toolset": toolset_key(environment.tools),
        "group": bytes_hash(f"{spec.hash}/{seed}".encode())[:KEY_DIGITS],
        "seed": seed,
    }


def spec_of(prompt: Mapping[str, Any]) -> TaskSpec:
    """Read the spec of a prompt. Raises PromptError where it is not the one that was frozen."""
    spec = load_spec(prompt["spec"])
    if spec.hash != prompt["spec_hash"]:
        raise PromptError(f"{spec.slug}: the spec is not the one whose hash the row names")
    return spec


def toolsets(prompts: Sequence[Mapping[str, Any]]) -> dict[str, tuple[dict[str, Any], ...]]:
    """Return the tool declarations by toolset key, in the order the keys first occur."""
    found: dict[str, tuple[dict[str, Any], ...]] = {}
    for prompt in prompts:
        if prompt["toolset"] not in found:
            tools = Environment(spec_of(prompt)).tools
            found[prompt["toolset"]] = orjson.loads(orjson.dumps(tools))
    return found
