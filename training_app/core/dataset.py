"""The files of a dataset, whoever writes them: their names, how a weight becomes rows, the card.

Invariants: a dataset has one file of rows to train on, named by its kind, and a second one where
tasks were held back; the rows of a weight are the same in every process.
"""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, Final

HELD_OUT: Final = "held_out.jsonl"
FILES: Final[Mapping[str, str]] = {
    "demonstrations": "demonstrations.jsonl",
    "prompts": "prompts.jsonl",
}
"""Kind of dataset → the file that is trained on."""
ORIGINS: Final = "origins.jsonl"
"""A line for every line of the other files: where it comes from."""
GROUPS: Final = ("portion", "family", "subtype", "difficulty", "policy", "source")
"""What a composition counts by."""
LARGEST_WEIGHT: Final = Decimal(100)


def file_of(kind: str, portion: str) -> str:
    """The file that rows of a portion stand in."""
    return HELD_OUT if portion == "held_out" else FILES[kind]


def copies(weight: Decimal, index: int) -> int:
    """How often row `index` (from 0) of a file of that weight is written.

    The whole part repeats every row; what is left over is spread evenly: of weight 2.5 every
    second row is written three times, of weight 0.25 every fourth row once.
    """
    return int(weight * (index + 1)) - int(weight * index)


def card(
    *, name: str, code: str, manifest: Mapping[str, Any], composition: Mapping[str, Any]
) -> str:
    """The dataset card: YAML head for `datasets.load_dataset`, then what it is, in words."""
    files = [file for file in (FILES[manifest["kind"]], HELD_OUT) if file in manifest["files"]]
    splits = "".join(
        f"  - split: {'held_out' if file == HELD_OUT else 'train'}\n    path: {file}\n"
        for file in files
    )
    lines = [
        f"---\nconfigs:\n- config_name: default\n  data_files:\n{splits}---\n",
        f"# {_line(name)} ({code})\n",
        f"{_line(manifest['kind']).capitalize()}, {manifest['rows']} rows to train on.\n",
        f"What is new in the tasks that were held back: **{manifest['split_kind']}**.\n",
        f"SHA-256 of all data files: `{manifest['sha256']}`\n",
        "| file | bytes | sha256 |\n|---|---|---|",
        *(
            f"| `{file}` | {entry['bytes']} | `{entry['sha256']}` |"
            for file, entry in manifest["files"].items()
        ),
        "",
        *_composition(composition),
        *_mixes(manifest["provenance"].get("mixed", ())),
    ]
    return "\n".join(lines).rstrip() + "\n"


def _composition(composition: Mapping[str, Any]) -> list[str]:
    lines: list[str] = []
    for title in GROUPS:
        counts = composition.get(title)
        if counts:
            lines += [f"## By {_line(title)}\n"]
            lines += [f"- {_line(key)}: {n}" for key, n in counts.items()]
            lines += [""]
    return lines


def _mixes(mixes: Sequence[Mapping[str, Any]]) -> list[str]:
    if not mixes:
        return []
    lines = ["## Rows from outside\n"]
    lines += [
        f"- {_line(mix['source'])}: weight {mix['weight']}, {mix['rows']} rows, "
        f"license or provenance: {_line(mix['license'] or 'not stated')}"
        for mix in mixes
    ]
    return lines


def _line(text: Any) -> str:
    """One line of words of others: nothing in it begins a heading, a table or HTML."""
    plain = " ".join(str(text).split())
    for sign in "\\`*_[]|#":
        plain = plain.replace(sign, f"\\{sign}")
    return plain.replace("<", "&lt;").replace(">", "&gt;")
