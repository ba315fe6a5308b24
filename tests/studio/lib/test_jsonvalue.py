import pytest

from studio.lib.jsonvalue import JsonValue, Leaf, depth, leaves


def _nested(levels: int) -> JsonValue:
    value: JsonValue = 1
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("value", "levels"), [(1, 0), (None, 0), ([], 1), ({"a": [1, {"b": 2}]}, 3), (_nested(9), 9)]
)
def test_depth_counts_levels(value: JsonValue, levels: int) -> None:
    assert depth(value) == levels


def test_depth_stops_counting_beyond_its_limit() -> None:
    assert depth(_nested(100_000), limit=10) == 11


def test_leaves_carry_their_paths_in_order() -> None:
    assert list(leaves({"b": [1, {"c": None}], "a": "x"})) == [
        Leaf("b[0]", 1),
        Leaf("b[1].c", None),
        Leaf("a", "x"),
    ]


def test_leaves_of_hostile_nesting_are_refused() -> None:
    with pytest.raises(ValueError, match="nested too deeply"):
        list(leaves(_nested(100_000)))
