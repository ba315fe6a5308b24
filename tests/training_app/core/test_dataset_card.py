"""Weights made whole, and the card with hostile words in it."""

from decimal import Decimal

import pytest

from training_app.core.dataset import card, copies


@pytest.mark.parametrize(
    ("weight", "expected"),
    [
        ("1", [1, 1, 1, 1, 1, 1, 1, 1]),
        ("3", [3, 3, 3, 3, 3, 3, 3, 3]),
        ("0.25", [0, 0, 0, 1, 0, 0, 0, 1]),
        ("2.5", [2, 3, 2, 3, 2, 3, 2, 3]),
        ("0.1", [0, 0, 0, 0, 0, 0, 0, 0]),
    ],
)
def test_a_weight_is_spread_evenly(weight: str, expected: list[int]) -> None:
    assert [copies(Decimal(weight), i) for i in range(8)] == expected


def test_a_weight_of_a_tenth_keeps_a_tenth() -> None:
    assert sum(copies(Decimal("0.1"), i) for i in range(1000)) == 100


def test_the_card_names_files_splits_and_licenses_and_no_word_of_others_is_markup() -> None:
    manifest = {
        "kind": "demonstrations",
        "rows": 2,
        "split_kind": "new_families",
        "sha256": "cd" * 32,
        "provenance": {
            "mixed": [
                {"source": "a.jsonl", "weight": "2", "rows": 4, "license": "CC0\n# <b>x</b>"},
                {"source": "b.jsonl", "weight": "1", "rows": 1, "license": ""},
            ]
        },
        "files": {
            "demonstrations.jsonl": {"sha256": "ab" * 32, "bytes": 10},
            "held_out.jsonl": {"sha256": "ef" * 32, "bytes": 5},
        },
    }
    assert card(
        name="<script>\n# one [x](y)",
        code="DS-0000",
        manifest=manifest,
        composition={"family": {"refund_or_decline": 2}, "source": {}},
    ) == "\n".join(
        [
            "---",
            "configs:",
            "- config_name: default",
            "  data_files:",
            "  - split: train",
            "    path: demonstrations.jsonl",
            "  - split: held_out",
            "    path: held_out.jsonl",
            "---",
            "",
            r"# &lt;script&gt; \# one \[x\](y) (DS-0000)",
            "",
            "Demonstrations, 2 rows to train on.",
            "",
            "What is new in the tasks that were held back: **new_families**.",
            "",
            f"SHA-256 of all data files: `{'cd' * 32}`",
            "",
            "| file | bytes | sha256 |",
            "|---|---|---|",
            f"| `demonstrations.jsonl` | 10 | `{'ab' * 32}` |",
            f"| `held_out.jsonl` | 5 | `{'ef' * 32}` |",
            "",
            "## By family",
            "",
            r"- refund\_or\_decline: 2",
            "",
            "## Rows from outside",
            "",
            r"- a.jsonl: weight 2, 4 rows, license or provenance: CC0 \# &lt;b&gt;x&lt;/b&gt;",
            "- b.jsonl: weight 1, 1 rows, license or provenance: not stated",
            "",
        ]
    )
