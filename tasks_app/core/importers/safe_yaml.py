"""YAML from strangers: plain data only. No tags, no aliases (bombs), limited size and depth;
errors name the line.
"""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import yaml

LARGEST_YAML: Final = 2_000_000
DEEPEST: Final = 40
_PLAIN_TAGS: Final = frozenset(
    f"tag:yaml.org,2002:{name}" for name in ("str", "int", "float", "bool", "null", "map", "seq")
)


class UnsafeYamlError(ValueError):
    """A document that is refused; the message names the line and why."""


class Document(NamedTuple):
    """A document and where in its text everything stands."""

    data: Any
    lines: Mapping[str, int]
    """JSON pointer of a value (``/tools/0/name``) → the line on which it, or its key, stands."""


class _PlainLoader(yaml.SafeLoader):
    """Builds plain data and keeps timestamps as the text they are."""

    depth = 0

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.events.AliasEvent):
            raise UnsafeYamlError(f"line {_line(self._next())}: aliases are refused")
        event = self._next()
        if getattr(event, "anchor", None) is not None:
            raise UnsafeYamlError(f"line {_line(event)}: anchors are refused")
        tag = getattr(event, "tag", None)
        if tag is not None and tag not in _PLAIN_TAGS:
            raise UnsafeYamlError(f"line {_line(event)}: the tag {tag} is refused")
        self.depth += 1
        if self.depth > DEEPEST:
            raise UnsafeYamlError(f"line {_line(event)}: nested more than {DEEPEST} levels deep")
        try:
            return super().compose_node(parent, index)
        finally:
            self.depth -= 1

    def _next(self) -> Any:
        return self.peek_event()  # type: ignore[no-untyped-call]  # PyYAML's stubs leave it out

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:  # noqa: FBT001, FBT002 (the base class's signature)
        seen: set[str] = set()
        for key, _ in node.value:
            name = getattr(key, "value", None)
            if isinstance(name, str) and name in seen:
                raise UnsafeYamlError(f"line {_line(key)}: {name} stands there twice")
            if isinstance(name, str):
                seen.add(name)
        return super().construct_mapping(node, deep=deep)


_PlainLoader.yaml_implicit_resolvers = {
    first: [(tag, test) for tag, test in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def _line(event: Any) -> int:
    return int(event.start_mark.line) + 1


def load_yaml(data: bytes) -> Any:
    """Read one YAML document as plain data. Raises UnsafeYamlError."""
    return load_document(data).data


def load_document(data: bytes) -> Document:
    """Read one YAML document with the line of every value. Raises UnsafeYamlError."""
    if len(data) > LARGEST_YAML:
        raise UnsafeYamlError(f"larger than {LARGEST_YAML:,} bytes")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as problem:
        line = data.count(b"\n", 0, problem.start) + 1
        raise UnsafeYamlError(f"line {line}, byte {problem.start}: not UTF-8 text") from problem
    try:
        return _document(text)
    except yaml.MarkedYAMLError as problem:
        mark = problem.problem_mark
        place = f"line {mark.line + 1}, column {mark.column + 1}: " if mark is not None else ""
        raise UnsafeYamlError(f"{place}{problem.problem or problem}") from problem
    except (yaml.YAMLError, RecursionError, ValueError) as problem:
        if isinstance(problem, UnsafeYamlError):
            raise
        raise UnsafeYamlError(str(problem)) from problem


def _document(text: str) -> Document:
    loader = _PlainLoader(text)
    try:
        node = loader.get_single_node()
        if node is None:
            return Document(None, {})
        lines: dict[str, int] = {}
        _note_lines(node, "", lines)
        return Document(loader.construct_document(node), lines)
    finally:
        loader.dispose()


def _note_lines(node: Any, place: str, lines: dict[str, int]) -> None:
    lines.setdefault(place, _line(node))
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            below = f"{place}/{getattr(key, 'value', '')}"
            lines[below] = _line(key)
            _note_lines(value, below, lines)
    elif isinstance(node, yaml.ScalarNode):
        if "\x00" in node.value:
            raise UnsafeYamlError(f"line {_line(node)}: a NUL character is refused")
    elif isinstance(node, yaml.SequenceNode):
        for number, item in enumerate(node.value):
            _note_lines(item, f"{place}/{number}", lines)
