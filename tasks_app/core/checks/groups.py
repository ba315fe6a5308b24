"""Text groups of checks: all groups must hit, any piece of a group is enough.

A piece is a string between non-word characters, `{"number": x}`, `{"regex": …}` or a reference to a
record made during the run. A bare piece stands for a group of one.
"""

from collections.abc import Callable, Sequence
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator

from tasks_app.core.evidence import Evidence, is_reference, without_references
from tasks_app.core.predicates import check_piece, compile_piece, compile_where, fold

Seeker = Callable[[str, Evidence, str | None], bool]
"""Says whether folded text holds a piece."""


def _checked(piece: Any) -> Any:
    if is_reference(piece):
        compile_where(without_references(piece.get("where", {})))
    else:
        check_piece(piece)
    return piece


def _groups(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return tuple(tuple(g) if isinstance(g, list | tuple) else (g,) for g in value)
    return value


def _check_groups(groups: tuple[tuple[Any, ...], ...]) -> tuple[tuple[Any, ...], ...]:
    for group in groups:
        if not group:
            raise ValueError("a text group needs at least one piece")
        for piece in group:
            _checked(piece)
    return groups


def _check_pieces(pieces: tuple[Any, ...]) -> tuple[Any, ...]:
    for piece in pieces:
        _checked(piece)
    return pieces


TextGroups = Annotated[
    tuple[tuple[Any, ...], ...], BeforeValidator(_groups), AfterValidator(_check_groups)
]
Pieces = Annotated[tuple[Any, ...], AfterValidator(_check_pieces)]


def compile_seeker(piece: Any) -> Seeker:
    """Compile one piece, references included."""
    if is_reference(piece):

        def made(folded: str, evidence: Evidence, stage: str | None) -> bool:
            return compile_piece(evidence.resolve(piece, stage))(folded)

        return made
    test = compile_piece(piece)
    return lambda folded, _evidence, _stage: test(folded)


def compile_groups(groups: Sequence[Sequence[Any]]) -> tuple[tuple[Seeker, ...], ...]:
    """Compile text groups."""
    return tuple(tuple(compile_seeker(piece) for piece in group) for group in groups)


def first_miss(
    groups: Sequence[Sequence[Seeker]], folded: str, evidence: Evidence, stage: str | None
) -> int | None:
    """Return the number of the first group that no piece hits; None if all hit."""
    for number, group in enumerate(groups):
        for seek in group:
            if seek(folded, evidence, stage):
                break
        else:
            return number
    return None


class Hunt:
    """Compiled pieces of which none, or any, should stand in a text."""

    __slots__ = ("_others", "_plain")

    def __init__(self, pieces: Sequence[Any]):
        numbered = list(enumerate(pieces))
        self._plain = tuple(
            (number, fold(piece).strip(), compile_piece(piece))
            for number, piece in numbered
            if isinstance(piece, str)
        )
        self._others = tuple((n, compile_seeker(p)) for n, p in numbered if not isinstance(p, str))

    def first(self, folded: str, evidence: Evidence, stage: str | None) -> int | None:
        """Return the number of a piece that stands in the text; None if none does."""
        for number, wanted, test in self._plain:
            if wanted in folded and test(folded):
                return number
        for number, seek in self._others:
            if seek(folded, evidence, stage):
                return number
        return None


def say(piece: Any) -> str:
    """Write a piece for people."""
    if isinstance(piece, str):
        return piece
    if is_reference(piece):
        return f"the {piece.get('field', 'id')} of the record in {piece['record']}"
    if isinstance(piece, dict):
        return str(piece["number"]) if "number" in piece else f"/{piece['regex']}/"
    return str(piece)


def say_group(group: Sequence[Any]) -> str:
    """Write a group for people."""
    return " or ".join(say(piece) for piece in group)
