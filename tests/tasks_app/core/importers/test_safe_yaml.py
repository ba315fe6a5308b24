"""YAML from strangers is plain data or refused with the line."""

import pytest

from tasks_app.core.importers.safe_yaml import (
    LARGEST_YAML,
    UnsafeYamlError,
    load_document,
    load_yaml,
)


def test_plain_data_is_read_and_dates_stay_text() -> None:
    assert load_yaml("a: [1, 2.5, true, null]\nday: 2031-03-20\n文: 好".encode()) == {
        "a": [1, 2.5, True, None],
        "day": "2031-03-20",
        "文": "好",
    }


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: &x [1]\nb: *x", "line 1: anchors are refused"),
        ("a: !!python/object/apply:os.system [ls]", "line 1: the tag"),
        ("\n\na: !custom 1", "line 3: the tag !custom is refused"),
        ("a: 1\na: 2", "line 2: a stands there twice"),
        ("a: [1", "line 1"),
        ("a: b: c", "line 1"),
        ('a: 1\nb: "x\\0y"', "line 2: a NUL character is refused"),
        ("[" * 60 + "]" * 60, "nested more than 40 levels deep"),
    ],
)
def test_what_is_not_plain_is_refused_with_the_line(text: str, message: str) -> None:
    with pytest.raises(UnsafeYamlError) as refusal:
        load_yaml(text.encode())
    assert message in str(refusal.value)


def test_a_bomb_of_aliases_is_refused_before_it_grows() -> None:
    lines = ["a0: &a0 [x, x]", *(f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]" for n in range(1, 40))]
    with pytest.raises(UnsafeYamlError, match="refused"):
        load_yaml("\n".join(lines).encode())


def test_size_and_encoding_are_limited() -> None:
    with pytest.raises(UnsafeYamlError, match="larger than"):
        load_yaml(b"a" * (LARGEST_YAML + 1))
    with pytest.raises(UnsafeYamlError, match="line 1, byte 3: not UTF-8"):
        load_yaml(b"a: \xff")


def test_every_value_knows_its_line() -> None:
    document = load_document(b"a: 1\nb:\n  - c: [1,\n     2]\n  - d\n")
    assert document.data == {"a": 1, "b": [{"c": [1, 2]}, "d"]}
    assert document.lines == {
        "": 1,
        "/a": 1,
        "/b": 2,
        "/b/0": 3,
        "/b/0/c": 3,
        "/b/0/c/0": 3,
        "/b/0/c/1": 4,
        "/b/1": 5,
    }


def test_an_empty_document_is_nothing() -> None:
    assert load_yaml(b"# only a word\n") is None
