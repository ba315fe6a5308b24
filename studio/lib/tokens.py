"""Counting tokens: exactly by a tokenizer file, or by a rule of thumb that says it is one.

A tokenizer file is the `tokenizer.json` that every checkpoint carries. Reading it takes the library
`tokenizers`, which comes with the training extra; without it only the estimate is offered.
"""

import functools
import importlib.util
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

CHARACTERS_A_TOKEN: Final = 4
ESTIMATE: Final = "estimate"
_LARGEST: Final = 64 * 2**20
"""Bytes of a tokenizer file; a larger one is not offered."""


@dataclass(frozen=True)
class TokenCounter:
    """Counts the tokens of a text."""

    name: str
    """How it is chosen."""
    exact: bool
    _tokenizer: Any = None

    def count(self, text: str) -> int:
        """Tokens of a text by itself: what a chat template puts around it is not counted."""
        if self._tokenizer is None:
            return -(-len(text) // CHARACTERS_A_TOKEN)
        return len(self._tokenizer.encode(text, add_special_tokens=False).ids)


def tokenizer_files(root: Path, *, most: int = 50) -> Mapping[str, Path]:
    """Tokenizer files of the runs in a folder, the newest first, by the folder they stand in.

    Empty where nothing could read them.
    """
    if importlib.util.find_spec("tokenizers") is None:
        return {}
    found = []
    for path in (*root.glob("*/checkpoints/*/tokenizer.json"), *root.glob("*/tokenizer.json")):
        stat = path.stat()
        if stat.st_size <= _LARGEST:
            found.append((-stat.st_mtime, path))
    return {str(path.parent.relative_to(root)): path for _, path in sorted(found)[:most]}


def counter_of(name: str, files: Mapping[str, Path]) -> TokenCounter:
    """The counter of a name; the estimate for any other. Raises ValueError for a broken file."""
    path = files.get(name)
    if path is None:
        return TokenCounter(ESTIMATE, exact=False)
    return TokenCounter(name, exact=True, _tokenizer=_read(path, path.stat().st_mtime_ns))


@functools.lru_cache(maxsize=4)
def _read(path: Path, changed: int) -> Any:
    from tokenizers import Tokenizer  # an extra; and nobody else pays for loading it

    try:
        return Tokenizer.from_file(str(path))
    except Exception as problem:
        # The library raises plain Exception for whatever it cannot read.
        raise ValueError(f"{path.name} cannot be read: {problem}") from problem
