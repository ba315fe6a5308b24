"""What *clean* means: tasks as a family drafts them, before any repair, specs that people checked
by hand, and what means the same as these under other ids, names, orders and words.

None of it is chosen by what the gates let through.
"""

import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, cast

import orjson

from tasks_app.core.audit.planter import Written
from tasks_app.core.audit.subjects import Subject
from tasks_app.core.generation.families.catalog import FAMILIES
from tasks_app.core.generation.family import draft, plans

_NUMBERED: Final = re.compile(r"^([A-Z]{1,5})-(\d+)$")
_NAMES: Final = (
    "Ottoline", "Fairbrass", "Benedikt", "Quennerstedt", "Solveig", "Marchetti", "Taddeo",
    "Wintergreen", "Philippa", "Oakhurst", "Casimir", "Rosenthal", "Henrike", "Blackwood",
)  # fmt: skip
_GREETINGS: Final = (
    ("Good morning. ", ""),
    ("", " Many thanks in advance."),
    ("When you have a minute: ", ""),
    ("", " Take the time that you need."),
    ("Hello there, one more for today. ", " Cheers."),
)
_SAME_WORDS: Final = (
    ("Could you ", "Would you please "),
    ("please ", "kindly "),
    ("Please ", "Kindly "),
    (" tell me ", " let me know "),
    ("Thanks", "Thank you"),
    (" find out ", " see "),
)


def drafted(family: str, seed: int, count: int) -> Iterator[Subject]:
    """Drafts of a family, every subtype and level in turn, neither proven nor mended."""
    known = FAMILIES[family]
    for plan in plans(known, count, seed):
        yield Subject(
            f"{family}/{plan.subtype}/{plan.level}/{seed}/{plan.index}",
            draft(known, plan).written(),
        )


def renumbered(data: Written, rng: random.Random) -> Written:
    """The same task with other ids: every number of a prefix moves by the same step, so that order
    and width stay.
    """
    highest: dict[str, tuple[int, int, int]] = {}
    for tables in data["services"].values():
        for rows in tables.values():
            for record in rows:
                found = _NUMBERED.match(str(record.get("id", "")))
                if found:
                    number, width = int(found[2]), len(found[2])
                    low, high, _ = highest.get(found[1], (number, number, width))
                    highest[found[1]] = (min(low, number), max(high, number), width)
    steps = {}
    for prefix, (low, high, width) in sorted(highest.items()):
        room = 10**width - 60 - high
        down = low - 10 ** (width - 1)
        steps[prefix] = (
            rng.randint(1, min(room, 400)) if room > 1 else -rng.randint(0, max(down, 0))
        )
    if not steps:
        return data
    pattern = re.compile(r"\b(" + "|".join(map(re.escape, steps)) + r")-(\d+)\b")

    def moved(found: re.Match[str]) -> str:
        return f"{found[1]}-{int(found[2]) + steps[found[1]]:0{len(found[2])}d}"

    return _text(data, lambda text: pattern.sub(moved, text))


def renamed(data: Written, rng: random.Random) -> Written:
    """The same task with other people: the one who asks has another name, wherever it stands."""
    words = data["workplace"]["requester"]["name"].split()
    text = orjson.dumps(data).decode()
    free = [name for name in _NAMES if name.lower() not in text.lower()]
    chosen = dict(zip(words, rng.sample(free, len(words)), strict=True))

    def changed(text: str) -> str:
        for old, new in chosen.items():
            text = re.sub(rf"\b{re.escape(old)}\b", new, text)
            text = re.sub(rf"\b{re.escape(old.lower())}\b", new.lower(), text)
        return text

    return _text(data, changed)


def reordered(data: Written, rng: random.Random) -> Written:
    """The same task with its records, tools, rules and people in another order."""
    for tables in data["services"].values():
        for rows in tables.values():
            rng.shuffle(rows)
    for name in ("tools", "constraints", "write_set", "free", "capabilities"):
        if name in data:
            rng.shuffle(data[name])
    rng.shuffle(data["workplace"].get("people", []))
    rng.shuffle(data["workplace"].get("policies", []))
    return data


def reworded(data: Written, rng: random.Random) -> Written:
    """The same task with other words around what is asked."""
    before, after = rng.choice(_GREETINGS)
    text = data["request"]["text"]
    for old, new in _SAME_WORDS:
        text = text.replace(old, new)
    # Behind the name that a letter ends with, a sentence begins on a line of its own.
    data["request"]["text"] = f"{before}{text}" + (f"\n{after.strip()}" if after else "")
    return data


def regrouped(data: Written, rng: random.Random) -> Written:
    """The same task with its checks in another order."""
    rng.shuffle(data["checks"])
    return data


OPERATORS: Final[Mapping[str, Callable[[Written, random.Random], Written]]] = {
    "renumbered": renumbered,
    "renamed": renamed,
    "reordered": reordered,
    "reworded": reworded,
    "regrouped": regrouped,
}
"""Name → what makes an equivalent of a task."""


def equivalent(subject: Subject, operator: str, rng: random.Random) -> Subject:
    """Return a task that means the same."""
    written = OPERATORS[operator](subject.copy(), rng)
    return Subject(f"{subject.name} {operator}", written)


def clean_tasks(count: int, seed: int, checked: Sequence[Subject] = ()) -> Iterator[Subject]:
    """Yield sound tasks: the hand-checked ones, and of every family as many drafts as equivalents.

    Args:
        count: How many.
        seed: Any whole number; the same seed gives the same tasks.
        checked: Specs that people checked by hand.
    """
    given = 0
    for subject in checked:
        for operator in ("", *OPERATORS):
            if given < count:
                rng = random.Random(f"{seed}/{subject.name}/{operator}")
                yield equivalent(subject, operator, rng) if operator else subject
                given += 1
    names = list(FAMILIES)
    each = -(-(count - given) // len(names) + 1) if count > given else 0
    drafts = {name: list(drafted(name, seed, max(each, 1))) for name in names}
    operators = list(OPERATORS)
    place = 0
    while given < count:
        family, turn = names[place % len(names)], place // len(names)
        subject = drafts[family][turn % len(drafts[family])]
        if turn % 2:
            operator = operators[turn // 2 % len(operators)]
            subject = equivalent(subject, operator, random.Random(f"{seed}/{place}"))
        yield subject
        given += 1
        place += 1


def _text(data: Written, change: Callable[[str], str]) -> Written:
    """Change every text of a written spec, keys included."""

    def walk(value: Any) -> Any:
        if isinstance(value, str):
            return change(value)
        if isinstance(value, dict):
            return {change(key): walk(item) for key, item in value.items()}
        return [walk(item) for item in value] if isinstance(value, list) else value

    return cast(Written, walk(data))
