"""Gate V4: what is held back shares nothing with what is trained on.

Two kinds, printed beside every number. `new_instances`: the same families, but no shared names,
record ids or decisive values. `new_families`: no shared family and no shared structural
fingerprint, from the fixed table below. Where something is shared, the whole cluster of tasks that
hang together by it moves to one side.

What counts is what a task is about: full names that the request says, ids that the reference
touches, and values that it uses and that are no choice of a tool. Records that only stand beside
it, the workplace that a family always has, ids of fewer than four digits, whole numbers up to a
hundred, dates and plain words recur by chance and say nothing.
"""

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from typing import Final, NamedTuple, TypeVar

from tasks_app.core.instants import is_date, is_instant
from tasks_app.core.predicates import contains_piece, fold
from tasks_app.core.program import Act, reference_run
from tasks_app.core.samples import holders
from tasks_app.core.spec import TaskSpec
from tasks_app.core.validation.trace import is_choice, is_number, leaves, texts_of

HELD_FAMILIES: Final[Mapping[str, tuple[str, ...]]] = {
    "claw_eval": (
        "contract_dates",
        "not_possible",
        "offline_fact_check",
        "secret_rotation",
        "shift_cover",
    ),
    "clawmark": ("legal_matter", "lettings", "newsroom_correction"),
}
"""Track → families whose tasks are never trained on: the split kind `new_families`. A table, not a
hash: a family that is added later moves nobody."""
HELD_OUT_TAG: Final = "held_out_names"
"""Of tasks whose names come from a pool that no training task draws from."""
_LARGEST_COUNT: Final = 100
_DIGITS: Final = 4
_CATALOGUE: Final = ("query", "sku")
"""Arguments that name what is sold, which a family has a fixed list of, or words to search for."""

Key = TypeVar("Key", bound=Hashable)


class Leak(NamedTuple):
    """What a task that is held back shares with one that is trained on."""

    held: Hashable
    trained: Hashable
    token: str
    """`name:…`, `id:…`, `value:…` or `structure:…`."""


def is_held_family(family: str) -> bool:
    """Say whether tasks of a family are never trained on."""
    return any(family in families for families in HELD_FAMILIES.values())


def identity_of(spec: TaskSpec) -> frozenset[str]:
    """Return the names, ids and values that a task is about, each with its kind before it."""
    world, run = reference_run(spec)
    start, end = holders(world.seed.ground.start), holders(world.evidence().tables())
    made = end.keys() - start.keys()
    return frozenset([*_names(spec), *_touched(run.acts, start, made)])


def _names(spec: TaskSpec) -> Iterable[str]:
    request = fold(" ".join([spec.request.text, *(s.notification or "" for s in spec.timeline)]))
    for collections in spec.services.values():
        for records in collections.values():
            for record in records:
                for field, value in record.items():
                    named = "name" in field or field in ("reporter", "title")
                    full = named and isinstance(value, str) and " " in value.strip()
                    if full and contains_piece(request, value):
                        yield f"name:{fold(value)}"


def _touched(
    acts: Sequence[Act], homes: Mapping[str, Sequence[str]], made: Collection[str]
) -> Iterable[str]:
    for act in acts:
        for name, value in act.arguments.items():
            if act.tool is None or name in texts_of(act.tool):
                continue
            for leaf in leaves(value):
                if is_choice(act.tool, name, leaf) or name in _CATALOGUE or leaf in made:
                    continue
                if is_number(leaf):
                    if not float(leaf).is_integer() or abs(leaf) > _LARGEST_COUNT:
                        yield f"value:{leaf:g}"
                elif _is_particular(leaf):
                    yield f"id:{leaf}" if leaf in homes else f"value:{fold(leaf)}"


def _is_particular(text: str) -> bool:
    if is_date(text) or is_instant(text):
        return False
    return "@" in text or sum(c.isdigit() for c in text) >= _DIGITS


def leaks(trained: Mapping[Key, frozenset[str]], held: Mapping[Key, frozenset[str]]) -> list[Leak]:
    """Return what each held task shares with a trained one: one leak a held task and token."""
    first: dict[str, Key] = {}
    for key, tokens in trained.items():
        for token in tokens:
            first.setdefault(token, key)
    return [
        Leak(key, first[token], token)
        for key, tokens in held.items()
        for token in sorted(tokens)
        if token in first
    ]


def clusters(tasks: Mapping[Key, frozenset[str]]) -> list[tuple[Key, ...]]:
    """Return the tasks that hang together by shared tokens, in order of their first."""
    parent: dict[Key, Key] = {key: key for key in tasks}

    def root(key: Key) -> Key:
        while parent[key] != key:
            parent[key] = parent[parent[key]]
            key = parent[key]
        return key

    home: dict[str, Key] = {}
    for key, tokens in tasks.items():
        for token in tokens:
            if token in home:
                parent[root(key)] = root(home[token])
            else:
                home[token] = key
    groups: dict[Key, list[Key]] = {}
    for key in tasks:
        groups.setdefault(root(key), []).append(key)
    return [tuple(group) for group in groups.values()]


def moved(
    tasks: Mapping[Key, frozenset[str]], held: Iterable[Key]
) -> tuple[frozenset[Key], frozenset[Key]]:
    """Return what is held back once whole clusters are, and which of them moved along."""
    asked = frozenset(held)
    whole = frozenset(
        key for group in clusters(tasks) if not asked.isdisjoint(group) for key in group
    )
    return whole, whole - asked
