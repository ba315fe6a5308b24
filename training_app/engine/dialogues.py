"""Dialogues as tokens: what is learnt are the assistant's own, the rest is read."""

import random
from collections.abc import Sequence
from typing import Any, Final, TypedDict

import orjson
from transformers import PreTrainedTokenizerBase
from trl.chat_template_utils import get_training_chat_template

from training_app.core.demonstrations import Row
from training_app.engine.tiny.skills import IGNORED, Skills

PACKED: Final = 180
"""Skill sequences are put end to end up to so many tokens: about the length of a dialogue."""


class Labelled(TypedDict):
    """Token ids with labels; IGNORED where nothing is learnt."""

    input_ids: list[int]
    labels: list[int]


def label(tokenizer: PreTrainedTokenizerBase, rows: Sequence[Row]) -> list[Labelled]:
    """Tokenise dialogues with the training twin of the template, which marks assistant tokens.

    Raises ValueError for a template that marks none.
    """
    template = get_training_chat_template(tokenizer)
    labelled: list[Labelled] = []
    for number, row in enumerate(rows):
        made: dict[str, Any] = tokenizer.apply_chat_template(
            row["messages"],
            tools=orjson.loads(row["tools"]),
            chat_template=template,
            return_dict=True,
            return_assistant_tokens_mask=True,
        )
        ids, mask = made["input_ids"], made["assistant_masks"]
        if not any(mask):
            raise ValueError(f"row {number}: the chat template marks no token of the assistant")
        labels = [i if own else IGNORED for i, own in zip(ids, mask, strict=True)]
        labelled.append({"input_ids": list(ids), "labels": labels})
    return labelled


def mix(
    dialogues: Sequence[Labelled], skills: Skills, *, rows: int, share: float, seed: str
) -> list[Labelled]:
    """Draw rows: dialogues in passes, each in a new order, and skill sequences in between."""
    rng = random.Random(seed)
    drawn: list[Labelled] = []
    left: list[int] = []
    for number in range(rows):
        if int((number + 1) * share) > int(number * share):
            drawn.append(_pack(skills))
            continue
        if not left:
            left = rng.sample(range(len(dialogues)), len(dialogues))
        drawn.append(dialogues[left.pop()])
    return drawn


def _pack(skills: Skills) -> Labelled:
    ids: list[int] = []
    labels: list[int] = []
    while True:
        one = skills.batch(1)
        if ids and len(ids) + len(one.ids[0]) > PACKED:
            return {"input_ids": ids, "labels": labels}
        ids += one.ids[0]
        labels += one.labels[0]
