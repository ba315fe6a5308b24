import os
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from studio.lib.hashing import bytes_hash, canonical_json, content_hash, short_hash
from studio.lib.jsonvalue import JsonValue

SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**53), 2**53),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(st.characters(exclude_categories=["Cs"])),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner, max_size=4),
    ),
    max_leaves=12,
)


def test_keys_are_sorted_and_nothing_is_between() -> None:
    value: JsonValue = {"b": [1, 1.0, "é"], "a": None, "B": {"z": True, "y": 0.1}}
    assert canonical_json(value) == ('{"B":{"y":0.1,"z":true},"a":null,"b":[1,1.0,"é"]}'.encode())


def test_the_hash_of_a_value_is_the_one_it_always_had() -> None:
    value: JsonValue = {"b": 1, "a": [None, "x"]}
    assert content_hash(value) == (
        "6566c16d5797373869cdb3d2515191ebb5cdfe414b840af9cbdafbd6750d9fb2"
    )
    assert short_hash(value, 6) == content_hash(value)[:6]
    assert bytes_hash(b"") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


@pytest.mark.parametrize("value", [float("nan"), [None, float("inf")], {"a": {"b": -float("inf")}}])
def test_what_would_turn_into_null_is_refused(value: JsonValue) -> None:
    with pytest.raises(ValueError, match="NaN or infinity"):
        canonical_json(value)


@pytest.mark.parametrize("value", [{1: "a"}, {"a": object()}, ["\ud800"], 2**65])
def test_what_json_cannot_hold_is_refused(value: JsonValue) -> None:
    with pytest.raises(ValueError, match="not a JSON value"):
        canonical_json(value)


@given(VALUES)
def test_the_order_of_keys_does_not_matter(value: JsonValue) -> None:
    assert canonical_json(_turned(value)) == canonical_json(value)


def test_another_process_hash_seed_and_zone_give_the_same_bytes() -> None:
    code = (
        "from studio.lib.hashing import content_hash;"
        "from studio.lib.similarity import signature;"
        "print(content_hash({'b': {'x': 1.5, 'a': 2}, 'a': list('héllo')}),"
        " content_hash(list(signature('the quick brown fox jumps'))))"
    )
    answers = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed, "TZ": zone, "LC_ALL": "C"},
            check=True,
            capture_output=True,
        ).stdout
        for seed, zone in (("1", "Asia/Tokyo"), ("2", "America/Lima"))
    }
    assert len(answers) == 1


def _turned(value: JsonValue) -> JsonValue:
    if isinstance(value, dict):
        return {key: _turned(value[key]) for key in reversed(list(value))}
    if isinstance(value, list):
        return [_turned(item) for item in value]
    return value
