"""The tokenizer of cpu-tiny: phrases are one token each, values stand alone.

A tiny model on two cores pays for every token. So whatever text is the same in many dialogues is
one token (the JSON between two values, a wording, the rules and tools of a family), and whatever
varies is isolated: names, ids, numbers, moments, words that rules decide by. A dialogue of a pocket
family then costs some 100 tokens. The price: a text unlike those it was built from falls back to
bytes, and the model does not read rules, it recognises them.

Invariant: the same dialogues give the same tokenizer, byte for byte.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import orjson
import trl
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from training_app.core.demonstrations import Row

VERSION: Final = 1
"""Part of every cache key: raise it when the same dialogues should give another tokenizer."""
VOCABULARY: Final = 2500
PAD, START, END = "<|endoftext|>", "<|im_start|>", "<|im_end|>"
SPOKEN: Final = ("<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>")
"""Markers that decoding keeps: they are added, but not special."""
_CLOCK: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d\d:\d\d \([A-Za-z_]+/[A-Za-z_]+")
_PIECES: Final = (
    r"\d{4}-\d\d-",  # a moment is 2031-04- 20 T10 :00:00+02:00
    r"T\d\d(?=:)",
    r":\d\d:00[+-]\d\d:00",
    r"\d\d(?=\d\d(?!\d))",  # an even number of digits goes by two, any other by up to three
    r"\d{1,3}",
    r"[A-Z]{1,2}-(?=\d)",  # the letters of an id
)
_CLAUSE: Final = r"""(?<!["}])[.:,;] """
"""Wordings are cut after these, never before a blank inside."""


@dataclass(frozen=True, slots=True)
class Values:
    """What varies in the dialogues, by kind."""

    names: tuple[str, ...]
    words: tuple[str, ...]
    addresses: tuple[str, ...]
    zones: tuple[str, ...]
    offsets: tuple[str, ...]


def template() -> str:
    """The chat template, byte for byte that of TRL: another one it would not recognise."""
    source = Path(trl.__file__).parent / "chat_templates" / "qwen3_instruct_2507.jinja"
    return source.read_text(encoding="utf-8")


@lru_cache(maxsize=1)
def _renderer() -> PreTrainedTokenizerFast:
    blank = Tokenizer(models.BPE(vocab={PAD: 0}, merges=[]))
    return PreTrainedTokenizerFast(tokenizer_object=blank, chat_template=template())


def render(row: Row) -> str:
    """The dialogue as one text."""
    text: str = _renderer().apply_chat_template(
        row["messages"], tools=orjson.loads(row["tools"]), tokenize=False
    )
    return text


def find_values(rows: Iterable[Row]) -> Values:
    """Find what varies: strings in observations, arguments and the clock, sorted."""
    names: set[str] = set()
    words: set[str] = set()
    addresses: set[str] = set()
    zones: set[str] = set()
    offsets: set[str] = set()
    for row in rows:
        system = row["messages"][0]["content"]
        zones.update(re.findall(r"\(([A-Z][A-Za-z]+/[A-Z][A-Za-z_]+)\)", system))
        for text in _strings(row):
            names.update(re.findall(r"\b[A-Z][a-z]+ [A-Z][a-z]+\b", text))
            addresses.update(re.findall(r"[a-z.-]+@[a-z.-]+", text))
            offsets.update(re.findall(r"T\d\d:\d\d:\d\d([+-]\d\d:\d\d)", text))
            if re.fullmatch(r"[a-z_]+", text):
                words.add(text)
    names = {name for name in names if not name.startswith(("Invoice", "Meeting"))}
    return Values(*(tuple(sorted(kind)) for kind in (names, words, addresses, zones, offsets)))


def _strings(row: Row) -> Iterable[str]:
    for message in row["messages"]:
        if message["role"] == "tool":
            yield from _leaves(orjson.loads(message["content"]))
        for call in message.get("tool_calls", ()):
            yield from _leaves(orjson.loads(call["function"]["arguments"]))


def _leaves(value: Any) -> Iterable[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _leaves(item)
    elif isinstance(value, list):
        for item in value:
            yield from _leaves(item)


def build(rows: Sequence[Row]) -> PreTrainedTokenizerFast:
    """Build the tokenizer from dialogues.

    Args:
        rows: Dialogues of every kind that training and evaluation will meet; names that no
            demonstration contains belong to them, else they would be spelt byte by byte.
    """
    values = find_values(rows)
    texts = [render(row) for row in rows]
    pieces = _pattern(values)
    split = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(pieces), behavior="isolated"),
            pre_tokenizers.Split(Regex(_CLAUSE), behavior="merged_with_previous"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    rules = _rules(texts)
    vocabulary: dict[str, int] = {}
    for token in (PAD, START, END, *SPOKEN, *rules):
        vocabulary.setdefault(token, len(vocabulary))
    for letter in sorted(pre_tokenizers.ByteLevel.alphabet()):
        vocabulary.setdefault(letter, len(vocabulary))
    for value in _spelt(values):
        vocabulary.setdefault(_bytes(value), len(vocabulary))
    for phrase, _ in _phrases(texts, split, rules):
        if len(vocabulary) >= VOCABULARY:
            break
        vocabulary.setdefault(phrase, len(vocabulary))
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=[], ignore_merges=True))
    tokenizer.pre_tokenizer = split
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([AddedToken(t, normalized=False) for t in (PAD, START, END)])
    tokenizer.add_tokens([AddedToken(t, normalized=False) for t in (*SPOKEN, *rules)])
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        eos_token=END,
        pad_token=PAD,
        chat_template=template(),
        model_max_length=2048,
        clean_up_tokenization_spaces=False,
    )


def value_ids(
    tokenizer: PreTrainedTokenizerFast, rows: Sequence[Row]
) -> tuple[list[int], list[int]]:
    """The tokens of values and those of phrases: what a base learns to copy, and what from."""
    spelt = {_bytes(value) for value in _spelt(find_values(rows))}
    vocabulary = tokenizer.get_vocab()
    letters = set(pre_tokenizers.ByteLevel.alphabet())
    fixed = {*letters, *tokenizer.get_added_vocab()}
    values = sorted(vocabulary[text] for text in spelt)
    phrases = sorted(i for text, i in vocabulary.items() if text not in spelt and text not in fixed)
    return values, phrases


def name_ids(tokenizer: PreTrainedTokenizerFast, rows: Sequence[Row]) -> list[int]:
    """The tokens of the names and mail addresses in dialogues."""
    values = find_values(rows)
    vocabulary = tokenizer.get_vocab()
    spelt = (_bytes(text) for text in (*values.names, *values.addresses))
    return sorted(vocabulary[text] for text in spelt if text in vocabulary)


def _pattern(values: Values) -> str:
    def any_of(options: Sequence[str], around: str) -> str:
        longest = sorted(options, key=lambda option: (-len(option), option))
        return around.format("|".join(re.escape(option) for option in longest))

    groups = [
        any_of(values.addresses, r"(?:{})"),
        any_of(values.zones, r"(?:{})"),
        any_of(values.names, r"(?:{})"),
        *_PIECES,
        any_of(values.words, r"(?<![A-Za-z_])(?:{})(?![A-Za-z_])"),
        r"(?:assistant|user|system)\n",
    ]
    return "|".join(group for group in groups if "(?:)" not in group)


def _spelt(values: Values) -> list[str]:
    """Every piece that a value is spelt with."""
    pieces = [str(number) for number in range(1000)]
    pieces += [f"{number:02d}" for number in range(100)]
    pieces += [f"{number:03d}" for number in range(100)]
    pieces += [f"2031-{month:02d}-" for month in range(1, 13)]
    pieces += [f"T{hour:02d}" for hour in range(24)]
    pieces += [f":{minute:02d}:00{o}" for minute in range(0, 60, 5) for o in values.offsets]
    return [*values.names, *values.words, *values.addresses, *values.zones, *pieces]


def _rules(texts: Sequence[str]) -> list[str]:
    """The fixed texts of the system message: before its clock, and after it (rules, tools)."""
    counted: Counter[str] = Counter()
    for text in texts:
        system = text[len(START) : text.index(END)]
        clock = _CLOCK.search(system)
        if clock is not None:
            counted[system[: clock.start()]] += 1
            counted[system[clock.end() :]] += 1
    return sorted(text for text, count in counted.items() if count > 1 and text)


def _phrases(
    texts: Sequence[str], split: pre_tokenizers.PreTokenizer, rules: Sequence[str]
) -> list[tuple[str, int]]:
    """Phrases met more than once, by how many tokens they spare."""
    fixed = sorted([START, END, *SPOKEN, *rules], key=len, reverse=True)
    cut = re.compile("|".join(re.escape(text) for text in fixed))
    counted: Counter[str] = Counter()
    for text in texts:
        for part in cut.split(text):
            counted.update(piece for piece, _ in split.pre_tokenize_str(part))
    spared = [(piece, count * (len(piece) - 1)) for piece, count in counted.items() if count > 1]
    return sorted(spared, key=lambda entry: (-entry[1], entry[0]))


def _bytes(text: str) -> str:
    """The text as byte-level vocabularies write it."""
    ((piece, _),) = pre_tokenizers.ByteLevel(
        add_prefix_space=False, use_regex=False
    ).pre_tokenize_str(text)
    return piece
