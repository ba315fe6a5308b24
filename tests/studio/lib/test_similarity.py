import random

import pytest

from studio.lib.similarity import (
    NEAR_DUPLICATE,
    PERMUTATIONS,
    Index,
    Match,
    Signature,
    band_keys,
    shared_bands,
    shingles,
    signature,
    similarity,
)


def _words(seed: str, count: int) -> list[str]:
    source = random.Random(seed)
    return [f"w{source.randrange(10_000)}" for _ in range(count)]


def test_shingles_are_runs_of_three_lower_case_words() -> None:
    assert shingles("The quick, brown fox; the QUICK brown") == [
        "the quick brown",
        "quick brown fox",
        "brown fox the",
        "fox the quick",
    ]
    assert shingles("Two words") == ["two words"]
    assert shingles(" …! ") == []


def test_a_signature_is_the_one_it_always_was() -> None:
    found = signature("Please refund the broken kettle of order 4411")
    assert len(found) == PERMUTATIONS
    assert found[:3] == (224387620747506848, 15817575178845567, 70255513748904755)


@pytest.mark.parametrize("changed", [0, 2, 10, 40, 120])
def test_the_estimate_is_near_the_true_jaccard_similarity(changed: int) -> None:
    first = _words("a", 400)
    second = first[changed:] + _words("b", changed)
    left, right = set(shingles(" ".join(first))), set(shingles(" ".join(second)))
    true = len(left & right) / len(left | right)
    estimate = similarity(signature(" ".join(first)), signature(" ".join(second)))
    assert estimate == pytest.approx(true, abs=0.12)


def test_case_and_punctuation_do_not_make_a_text_new() -> None:
    assert similarity(signature("Pay the bill, now!"), signature("pay THE bill now")) == 1.0


def test_texts_without_words_are_not_alike() -> None:
    assert similarity(signature(""), signature("")) == 0.0
    index: Index[str] = Index()
    index.add("empty", signature(""))
    assert index.nearest(signature("")) is None


def test_the_index_finds_what_a_full_search_finds() -> None:
    index: Index[int] = Index()
    signatures: list[Signature] = []
    for number in range(300):
        base = _words(f"base {number % 30}", 60)
        shift = number // 30
        entry = signature(" ".join(base[shift:] + _words(f"tail {number}", shift)))
        best = max(
            ((similarity(entry, other), -key) for key, other in enumerate(signatures)),
            default=(0.0, 0),
        )
        expected = Match(-best[1], best[0]) if best[0] >= NEAR_DUPLICATE else None
        assert index.nearest(entry) == expected
        index.add(number, entry)
        signatures.append(entry)
    assert len(index) == 300


def test_a_key_is_added_once() -> None:
    index: Index[str] = Index()
    index.add("a", signature("x y z"))
    with pytest.raises(ValueError, match="already in the index"):
        index.add("a", signature("p q r"))


def test_signatures_at_the_threshold_share_seven_bands_however_they_differ() -> None:
    left = signature(" ".join(_words("left", 60)))
    # 25 places differ, each in a band of its own: the fewest bands that 0.8 can leave.
    right = tuple(value + 1 if place % 4 == 0 and place < 100 else value
                  for place, value in enumerate(left))  # fmt: skip

    assert similarity(left, right) >= NEAR_DUPLICATE
    assert len(set(band_keys(left)) & set(band_keys(right))) == 7 == shared_bands(NEAR_DUPLICATE)
    index: Index[str] = Index()
    index.add("left", left)
    assert index.nearest(right) == Match("left", similarity(left, right))


def test_band_keys_fit_a_database_and_are_none_for_a_text_without_words() -> None:
    keys = band_keys(signature("one two three four"))

    assert len(keys) == 32
    assert all(-(2**31) <= key < 2**31 for key in keys)
    assert band_keys(signature("")) == ()
    assert [shared_bands(threshold) for threshold in (0.3, 0.8, 1.0)] == [1, 7, 32]
