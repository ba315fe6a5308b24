"""cpu-tiny: its tokenizer, its starting circuit, its skill batches, its base."""

import random
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="the train extra is not installed")
pytest.importorskip("trl", reason="the train extra is not installed")

import orjson  # noqa: E402 (after the skip)
from transformers import AutoTokenizer, PreTrainedTokenizerFast  # noqa: E402

from tests.training_app.engine.marks import ENGINE  # noqa: E402
from training_app.core import pocket  # noqa: E402
from training_app.core.demonstrations import Row, from_reference  # noqa: E402
from training_app.engine import dialogues  # noqa: E402
from training_app.engine.tiny import circuit, config, copy_base, tokenizer  # noqa: E402
from training_app.engine.tiny.skills import IGNORED, Skills  # noqa: E402

pytestmark = ENGINE


@pytest.fixture(scope="module")
def rows() -> list[Row]:
    specs = [*pocket.tasks("train", 64, 0), *pocket.tasks("held_out", 64, 0)]
    return [from_reference(spec, quote=True) for spec in specs]


@pytest.fixture(scope="module")
def tok(rows: list[Row]) -> PreTrainedTokenizerFast:
    return tokenizer.build(rows)


def test_a_dialogue_costs_few_tokens_and_comes_back_as_it_was(
    tok: PreTrainedTokenizerFast, rows: list[Row]
) -> None:
    for row in rows:
        text = tokenizer.render(row)
        ids = tok.encode(text)
        assert tok.decode(ids) == text
        assert len(ids) < 300


def test_text_it_was_not_built_from_is_spelt_byte_by_byte(tok: PreTrainedTokenizerFast) -> None:
    assert tok.decode(tok.encode("Grüße, 世界! 4711")) == "Grüße, 世界! 4711"


def test_it_is_the_same_each_time_and_after_saving(
    tok: PreTrainedTokenizerFast, rows: list[Row], tmp_path: Path
) -> None:
    assert tokenizer.build(rows).backend_tokenizer.to_str() == tok.backend_tokenizer.to_str()
    tok.save_pretrained(tmp_path)
    again = AutoTokenizer.from_pretrained(tmp_path)
    text = tokenizer.render(rows[0])
    assert again.encode(text) == tok.encode(text)
    assert again.chat_template == tokenizer.template()


def test_tool_calls_survive_decoding_without_special_tokens(
    tok: PreTrainedTokenizerFast, rows: list[Row]
) -> None:
    ids = tok.encode(tokenizer.render(rows[0]))
    assert "<tool_call>" in tok.decode(ids, skip_special_tokens=True)


def test_only_the_assistants_tokens_are_learnt(
    tok: PreTrainedTokenizerFast, rows: list[Row]
) -> None:
    (labelled,) = dialogues.label(tok, rows[:1])
    learnt = tok.decode([i for i in labelled["labels"] if i != IGNORED])
    spoken = [m for m in rows[0]["messages"] if m["role"] == "assistant"]
    assert learnt.count("<|im_end|>") == len(spoken)
    assert all(message["content"] in learnt for message in spoken)
    assert rows[0]["messages"][1]["content"] not in learnt
    call = orjson.loads(spoken[1]["tool_calls"][0]["function"]["arguments"])
    assert all(value in learnt for value in call.values())


def test_a_disguise_exchanges_names_throughout_and_nothing_else(
    tok: PreTrainedTokenizerFast, rows: list[Row]
) -> None:
    taught, held = rows[:64], rows[64:]
    (labelled,) = dialogues.label(tok, taught[:1])
    names = frozenset(tokenizer.name_ids(tok, taught))
    strange = set(tokenizer.name_ids(tok, held)) - names
    values, _ = tokenizer.value_ids(tok, rows)
    masks = [value for value in values if value not in strange]
    worn = dialogues.Disguise(names, masks).put_on(labelled, random.Random("d"))
    mask: dict[int, int] = {}
    for plain, other in zip(labelled["input_ids"], worn["input_ids"], strict=True):
        assert mask.setdefault(plain, other) == other
    assert {plain for plain, other in mask.items() if plain != other} == names & set(mask)
    assert len(set(mask.values())) == len(mask)
    assert not strange & set(worn["input_ids"])
    assert worn["labels"] == [mask.get(i, i) for i in labelled["labels"]]


def test_skill_batches_are_drawn_from_their_seed_and_need_no_padding(
    tok: PreTrainedTokenizerFast, rows: list[Row]
) -> None:
    values, phrases = tokenizer.value_ids(tok, rows)
    assert not set(values) & set(phrases)
    for number in range(20):
        drawn = Skills(values, phrases, f"{number}").batch(4)
        assert drawn == Skills(values, phrases, f"{number}").batch(4)
        assert len({len(ids) for ids in drawn.ids}) == 1
        for ids, labels in zip(drawn.ids, drawn.labels, strict=True):
            known = [place for place, label in enumerate(labels) if label != IGNORED]
            assert known
            assert all(labels[place] == ids[place] for place in known)
            assert all(ids[place] in ids[:place] for place in known)


def test_a_fresh_model_is_small_and_the_same_each_time(
    tok: PreTrainedTokenizerFast, rows: list[Row]
) -> None:
    values, _ = tokenizer.value_ids(tok, rows)
    one, other = (config.make_model(tok, 0, values) for _ in range(2))
    assert 1.0e6 < sum(p.numel() for p in one.parameters()) < 1.2e6
    for mine, theirs in zip(one.parameters(), other.parameters(), strict=True):
        assert torch.equal(mine, theirs)


def test_a_fresh_model_looks_up_the_id_of_a_name_it_never_met(
    tok: PreTrainedTokenizerFast, rows: list[Row]
) -> None:
    values, _ = tokenizer.value_ids(tok, rows)
    model = config.make_model(tok, 0, values)
    right = 0
    for labelled in dialogues.label(tok, rows[64:]):
        ids = labelled["input_ids"]
        text = [tok.decode([i]) for i in ids]
        said = [place for place, piece in enumerate(text) if piece == "assistant\n"][1]
        letters = said + 3  # "Idris Falkenrath", " ", "OR-"
        listed = {ids[i + 1] for i in range(letters) if ids[i] == ids[letters]}
        with torch.no_grad():
            logits = model(input_ids=torch.tensor([ids[: letters + 1]])).logits[0, -1]
        right += max(listed, key=lambda i: float(logits[i])) == ids[letters + 1]
    assert right / 64 > 0.5  # guessing among three to five gives 0.25


def test_the_heads_of_the_circuit_learn_slowly_and_the_rest_at_full_rate(
    tok: PreTrainedTokenizerFast, rows: list[Row]
) -> None:
    values, _ = tokenizer.value_ids(tok, rows)
    model = config.make_model(tok, 0, values)
    others, slow = circuit.groups(model, 1e-3)
    named = {id(p): name for name, p in model.named_parameters()}
    assert (others["lr"], slow["lr"]) == (1e-3, 1e-3 * circuit.SLOW)
    assert {named[id(p)].split(".self_attn.")[0] for p in slow["params"]} == {
        "model.layers.0",
        "model.layers.1",
    }
    assert len(others["params"]) + len(slow["params"]) == len(named)


def test_an_unfinished_base_is_kept_and_goes_on_to_the_same_weights(
    rows: list[Row], tmp_path: Path
) -> None:
    recipe = copy_base.BaseRecipe(steps=4, batch=4)
    whole = copy_base.obtain(rows, tmp_path / "whole", recipe)
    stopped = copy_base.obtain(rows, tmp_path / "parts", recipe, seconds=1e-9)
    assert stopped.step < 4
    parts = copy_base.obtain(rows, tmp_path / "parts", recipe)
    assert parts.step == whole.step == 4
    for one, other in zip(whole.model.parameters(), parts.model.parameters(), strict=True):
        assert torch.equal(one, other)
