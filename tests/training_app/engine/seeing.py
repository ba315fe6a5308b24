"""A model that sees, as small as can be: Qwen3-VL's parts with random weights, made on the spot."""

import io
from pathlib import Path
from typing import Final

import torch
import trl
from PIL import Image
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import (
    PreTrainedTokenizerFast,
    Qwen3VLConfig,
    Qwen3VLForConditionalGeneration,
)
from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import Qwen2VLImageProcessorPil

from studio.lib.hashing import bytes_hash
from tasks_app.core.spec import Attachment, TaskSpec
from training_app.core import pocket
from training_app.core.images import FOLDER
from training_app.core.run_dir import RunDir
from training_app.engine.images import Processor

_MARKS: Final = (
    "<|im_start|>", "<|vision_start|>", "<|vision_end|>", "<|image_pad|>", "<|video_pad|>",
)  # fmt: skip
_TEMPLATE: Final = Path(trl.__file__).parent / "chat_templates" / "qwen3_vl.jinja"


def processor() -> Processor:
    """Every byte a token, the makers' own template, patches of 16 pixels."""
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    words = Tokenizer(models.BPE(vocab={c: i for i, c in enumerate(letters)}, merges=[]))
    words.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    words.decoder = decoders.ByteLevel()
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=words,
        eos_token="<|im_end|>",
        pad_token="<|endoftext|>",
        additional_special_tokens=list(_MARKS),
    )
    tokenizer.add_tokens(["<tool_call>", "</tool_call>"])
    reader = Qwen2VLImageProcessorPil(
        patch_size=16,
        merge_size=2,
        temporal_patch_size=2,
        size={"shortest_edge": 1024, "longest_edge": 4096},
    )
    return Processor(reader, tokenizer, None, chat_template=_TEMPLATE.read_text())


def save_model(folder: Path) -> Path:
    """Make the model and save it as its makers would."""
    made = processor()
    number = made.tokenizer.convert_tokens_to_ids
    config = Qwen3VLConfig(
        text_config={
            "vocab_size": 272,
            "hidden_size": 32,
            "intermediate_size": 32,
            "num_hidden_layers": 2,
            "num_attention_heads": 2,
            "num_key_value_heads": 2,
            "head_dim": 16,
            "max_position_embeddings": 32768,
            "eos_token_id": made.tokenizer.eos_token_id,
            "pad_token_id": made.tokenizer.pad_token_id,
            "rope_parameters": {
                "rope_type": "default",
                "rope_theta": 1e6,
                "mrope_section": [4, 2, 2],
                "mrope_interleaved": True,
            },
        },
        vision_config={
            "depth": 1,
            "hidden_size": 32,
            "intermediate_size": 32,
            "num_heads": 2,
            "patch_size": 16,
            "out_hidden_size": 32,
            "num_position_embeddings": 64,
            "deepstack_visual_indexes": [0],
        },
        image_token_id=number("<|image_pad|>"),
        video_token_id=number("<|video_pad|>"),
        vision_start_token_id=number("<|vision_start|>"),
        vision_end_token_id=number("<|vision_end|>"),
        tie_word_embeddings=True,
    )
    torch.manual_seed(0)
    model = Qwen3VLForConditionalGeneration(config)
    model.generation_config.eos_token_id = made.tokenizer.eos_token_id
    model.save_pretrained(folder)
    made.save_pretrained(folder)
    return folder


def png(colour: str) -> bytes:
    """A picture of one colour."""
    stream = io.BytesIO()
    Image.new("RGB", (64, 48), colour).save(stream, "PNG")
    return stream.getvalue()


def task_with_image(data: bytes) -> TaskSpec:
    """A small task whose request comes with a picture."""
    spec = pocket.tasks("train", 1, 0)[0]
    attached = Attachment(
        name="form.png",
        media_type="image/png",
        sha256=bytes_hash(data),
        size=len(data),
        sidecar="A form.",
    )
    request = spec.request.model_copy(update={"attachments": (attached,)})
    return spec.model_copy(update={"request": request})


def attach(run: RunDir, data: bytes) -> None:
    """Put a picture beside the dataset of a run."""
    folder = run.dataset / FOLDER
    folder.mkdir(exist_ok=True)
    (folder / bytes_hash(data)).write_bytes(data)
