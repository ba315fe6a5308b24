"""Dialogues as tokens: what is learnt are the assistant's own, the rest is read."""

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypedDict

import orjson
from transformers import PreTrainedTokenizerBase
from trl.chat_template_utils import get_training_chat_template

from training_app.core.demonstrations import Row
from training_app.engine.gigpo import turn_spans
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


def longest_turn(labelled: Iterable[Labelled]) -> int:
    """Tokens of the longest turn that is learnt."""
    spans = (
        span for row in labelled for span in turn_spans([one != IGNORED for one in row["labels"]])
    )
    return max((end - start for start, end in spans), default=0)


@dataclass(frozen=True, slots=True)
class Disguise:
    """Exchanges the names of a dialogue for other values, each for the same throughout.

    The names of demonstrations are few, and a model that sees no others learns them by heart: it
    then answers with one of them whoever is asked for. In a disguise anything may stand for a name,
    so the only way to know it is to copy it.
    """

    names: frozenset[int]
    """Tokens of names."""
    masks: Sequence[int]
    """Tokens that may stand for them; none of a name that the demonstrations do not contain."""

    def put_on(self, dialogue: Labelled, rng: random.Random) -> Labelled:
        """Return the dialogue in a disguise."""
        met = list(dict.fromkeys(i for i in dialogue["input_ids"] if i in self.names))
        used = set(dialogue["input_ids"])
        free = [i for i in rng.sample(self.masks, 4 * len(met) + 64) if i not in used]
        mask = dict(zip(met, free, strict=False))
        return {
            "input_ids": [mask.get(i, i) for i in dialogue["input_ids"]],
            "labels": [mask.get(i, i) for i in dialogue["labels"]],
        }


def mix(
    dialogues: Sequence[Labelled],
    skills: Skills,
    disguise: Disguise,
    *,
    rows: int,
    skill_share: float,
    disguised_share: float,
    seed: str,
) -> list[Labelled]:
    """Draw rows: dialogues in passes, each in a new order, and skill sequences in between.

    Args:
        dialogues: What is to be learnt.
        skills: Where skill sequences come from.
        disguise: What some dialogues wear.
        rows: How many rows.
        skill_share: Share of rows that are skill sequences.
        disguised_share: Share of dialogues in disguise.
        seed: The same seed draws the same rows.
    """
    rng = random.Random(seed)
    drawn: list[Labelled] = []
    left: list[int] = []
    for number in range(rows):
        if int((number + 1) * skill_share) > int(number * skill_share):
            drawn.append(_pack(skills))
            continue
        if not left:
            left = rng.sample(range(len(dialogues)), len(dialogues))
        dialogue = dialogues[left.pop()]
        worn = rng.random() < disguised_share
        drawn.append(disguise.put_on(dialogue, rng) if worn else dialogue)
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
