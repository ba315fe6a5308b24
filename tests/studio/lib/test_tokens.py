"""Tokens are counted exactly by a tokenizer's file, and otherwise estimated by name."""

from pathlib import Path

import pytest

from studio.lib.tokens import ESTIMATE, counter_of, tokenizer_files


def tokenizer_at(folder: Path) -> Path:
    """Write the file of a tokenizer that splits at blanks."""
    library = pytest.importorskip("tokenizers")
    made = library.Tokenizer(library.models.WordLevel({"[UNK]": 0, "close": 1}, "[UNK]"))
    made.pre_tokenizer = library.pre_tokenizers.WhitespaceSplit()
    folder.mkdir(parents=True)
    made.save(str(folder / "tokenizer.json"))
    return folder / "tokenizer.json"


def test_without_a_tokenizer_four_characters_are_a_token_and_it_is_called_an_estimate() -> None:
    counter = counter_of(ESTIMATE, {})
    assert (counter.name, counter.exact) == (ESTIMATE, False)
    assert [counter.count(text) for text in ("", "a", "four", "fives")] == [0, 1, 1, 2]
    assert counter_of("gone", {}).exact is False


def test_a_tokenizer_of_a_checkpoint_counts_exactly(tmp_path: Path) -> None:
    path = tokenizer_at(tmp_path / "RUN-4K7Q" / "checkpoints" / "step-000100")
    files = tokenizer_files(tmp_path)
    assert files == {"RUN-4K7Q/checkpoints/step-000100": path}
    counter = counter_of("RUN-4K7Q/checkpoints/step-000100", files)
    assert counter.exact
    assert counter.count("close the ticket about lamps") == 5


def test_a_broken_file_is_named(tmp_path: Path) -> None:
    path = tokenizer_at(tmp_path / "RUN-4K7Q")
    path.write_text("{")
    with pytest.raises(ValueError, match=r"^tokenizer\.json cannot be read: "):
        counter_of("RUN-4K7Q", {"RUN-4K7Q": path})


def test_a_folder_without_runs_offers_nothing(tmp_path: Path) -> None:
    assert tokenizer_files(tmp_path / "missing") == {}
