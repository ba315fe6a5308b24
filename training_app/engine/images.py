"""Images for models that see: read from beside the dataset, put before the request."""

import io
import re
from collections.abc import Sequence
from typing import Any, Final

import orjson
import torch
from datasets import Dataset
from PIL import Image, UnidentifiedImageError
from transformers import AutoTokenizer, Qwen3VLProcessor
from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import Qwen2VLImageProcessorPil
from trl.chat_template_utils import get_training_chat_template
from trl.data_utils import prepare_multimodal_messages

from studio.lib.hashing import bytes_hash
from training_app.core.demonstrations import Row
from training_app.core.images import FOLDER
from training_app.core.run_dir import RunDir
from training_app.engine.data import DataError
from training_app.engine.tiny.skills import IGNORED

_HASH: Final = re.compile(r"[0-9a-f]{64}")
MOST_PIXELS: Final = 50_000_000
"""Of one image; what claims more is refused before it is unpacked."""


class Processor(Qwen3VLProcessor):
    """Qwen3-VL's processor without its reader of videos, which needs torchvision."""

    def check_argument_for_proper_class(self, argument_name: str, argument: Any) -> Any:
        """Allow that there is no reader of videos."""
        if argument is None:
            return None
        return super().check_argument_for_proper_class(argument_name, argument)

    def save_pretrained(self, save_directory: Any, **more: Any) -> None:
        """Save what there is, in the files that the model's makers use."""
        self.tokenizer.chat_template = self.chat_template
        self.tokenizer.save_pretrained(save_directory)
        self.image_processor.save_pretrained(save_directory)

    @classmethod
    def load(cls, place: str) -> "Processor":
        """Load it from a model's folder. Raises OSError."""
        tokenizer = AutoTokenizer.from_pretrained(place)
        reader = Qwen2VLImageProcessorPil.from_pretrained(place)
        return cls(reader, tokenizer, None, chat_template=tokenizer.chat_template)


def read(run: RunDir, names: Sequence[str]) -> list[Image.Image]:
    """Read images by the hashes of their bytes. Raises DataError that says which and what to do."""
    found: list[Image.Image] = []
    for name in names:
        file = run.dataset / FOLDER / name
        if not _HASH.fullmatch(name) or not file.is_file():
            raise DataError(f"{name[:64]}: no such image; put its bytes at {file.parent}/<sha256>")
        data = file.read_bytes()
        if bytes_hash(data) != name:
            raise DataError(f"{file}: other bytes than its name says; copy it again")
        try:
            image = Image.open(io.BytesIO(data))
            if image.width * image.height > MOST_PIXELS:
                raise DataError(f"{file}: more than {MOST_PIXELS:,} pixels; make it smaller")
            found.append(image.convert("RGB"))
        except (UnidentifiedImageError, OSError) as problem:
            raise DataError(f"{file}: no image that can be read; use PNG or JPEG") from problem
    return found


def with_images(run: RunDir, rows: Sequence[Row]) -> Dataset:
    """Dialogues as rows that `Collator` reads. Images are checked now and read when they are seen:
    a dataset of them need not fit into memory.
    """
    names = [row.get("images", []) for row in rows]
    for each in names:
        read(run, each)
    dataset = Dataset.from_dict(
        {
            "messages": [orjson.dumps(row["messages"]).decode() for row in rows],
            "tools": [row["tools"] for row in rows],
            "images": names,
        }
    )

    def opened(batch: dict[str, list[Any]]) -> dict[str, list[Any]]:
        return {**batch, "images": [read(run, each) for each in batch["images"]]}

    return dataset.with_transform(opened)


class Collator:
    """Makes a batch of dialogues with images; what is learnt are the assistant's tokens.

    TRL's own collator leaves the tools out of the prompt.
    """

    def __init__(self, processor: Processor):
        self._processor = processor
        self._template = get_training_chat_template(processor)

    def __call__(self, rows: Sequence[dict[str, Any]]) -> dict[str, torch.Tensor]:
        """Put rows together: `messages` and `tools` as JSON texts, `images` as images."""
        texts: list[dict[str, torch.Tensor]] = []
        for row in rows:
            images = row["images"]
            made = self._processor.apply_chat_template(
                [prepare_multimodal_messages(_spoken(row["messages"]), images=images)],
                tools=orjson.loads(row["tools"]),
                chat_template=self._template,
                tokenize=True,
                return_dict=True,
                return_tensors="pt",
                return_assistant_tokens_mask=True,
            )
            mask = made.pop("assistant_masks")
            made["labels"] = made["input_ids"].masked_fill(mask == 0, IGNORED)
            texts.append(dict(made))
        fills = {"input_ids": self._processor.tokenizer.pad_token_id, "labels": IGNORED}
        batch: dict[str, torch.Tensor] = {}
        for name in dict.fromkeys(name for made in texts for name in made):
            parts = [made[name] for made in texts if name in made]
            if name in ("pixel_values", "image_grid_thw"):
                batch[name] = torch.cat(parts)
                continue
            width = max(part.shape[1] for part in parts)
            filled = [
                torch.nn.functional.pad(p, (0, width - p.shape[1]), value=fills.get(name, 0))
                for p in parts
            ]
            batch[name] = torch.cat(filled)
        return batch


def _spoken(text: str) -> list[dict[str, Any]]:
    """Messages of which those without words have no block: the template starts a line for each."""
    messages: list[dict[str, Any]] = orjson.loads(text)
    return [message if message["content"] else {**message, "content": []} for message in messages]
