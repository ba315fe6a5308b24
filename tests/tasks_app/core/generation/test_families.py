"""The built-in families draft tasks that hang together, the same ones for the same seed."""

import os
import subprocess
import sys
from collections import Counter

import pytest

from studio.lib.similarity import NEAR_DUPLICATE, Index, signature
from tasks_app.core.generation.families.catalog import FAMILIES
from tasks_app.core.generation.families.pocket.draft import HELD_OUT
from tasks_app.core.generation.families.pocket.words import PEOPLE, SUPPLIERS
from tasks_app.core.generation.family import draft, plans
from tasks_app.core.generation.generate import generate
from tasks_app.core.validation.diversity import fingerprint
from tasks_app.core.validation.proof import prove

NAMES = list(FAMILIES)
LARGE = [name for name in NAMES if FAMILIES[name].track != "pocket"]
POCKET = [name for name in NAMES if FAMILIES[name].track == "pocket"]


@pytest.mark.parametrize("name", LARGE)
def test_five_plans_a_cell_give_every_subtype_and_difficulty_five_times(name: str) -> None:
    family = FAMILIES[name]
    count = 5 * len(family.subtypes) * len(family.levels)
    counted = Counter((plan.subtype, plan.level) for plan in plans(family, count, 7))
    assert counted == {(s, n): 5 for s in family.subtypes for n in (1, 2, 3, 4, 5)}


@pytest.mark.parametrize("name", NAMES)
def test_one_draft_of_each_cell_is_proven_as_it_comes(name: str) -> None:
    family = FAMILIES[name]
    cells = len(family.subtypes) * len(family.levels)
    for plan in plans(family, cells if cells > 10 else 20, 11):
        card = prove(draft(family, plan))
        assert (plan.subtype, plan.level, [f.message for f in card.findings]) == (
            plan.subtype,
            plan.level,
            [],
        )
        assert (card.proven, card.reference and card.reference.reward) == (True, 1.0)
        assert card.null is not None
        assert card.null.reward == 0.0


@pytest.mark.parametrize("name", LARGE)
def test_sixty_drafts_are_sixty_different_days(name: str) -> None:
    family = FAMILIES[name]
    index: Index[str] = Index()
    hashes, prints, near = set(), set(), 0
    for plan in plans(family, 60, 3):
        spec = draft(family, plan)
        hashes.add(spec.hash)
        prints.add(fingerprint(spec))
        signed = signature(spec.request.text)
        near += index.nearest(signed, NEAR_DUPLICATE) is not None
        index.add(spec.hash, signed)
        assert 15 <= len(spec.request.text.split()) <= 75
    assert (len(hashes), near) == (60, 0)
    assert len(prints) >= 8


@pytest.mark.parametrize("name", NAMES)
def test_the_request_names_neither_ids_nor_tools_and_the_answer_is_not_in_it(name: str) -> None:
    family = FAMILIES[name]
    for plan in plans(family, 20, 5):
        spec = draft(family, plan)
        ids = {
            str(record["id"])
            for named in spec.services.values()
            for records in named.values()
            for record in records
        }
        words = set(spec.request.text.replace(",", " ").replace(".", " ").split())
        assert not ids & words
        assert not set(spec.tools) & words


_SCRIPT = """
import sys
from tasks_app.core.generation.families.catalog import FAMILIES
from tasks_app.core.generation.family import draft, plans
for name in FAMILIES:
    for plan in plans(FAMILIES[name], 10, 7):
        sys.stdout.buffer.write(draft(FAMILIES[name], plan).canonical() + b"\\n")
"""


def test_the_same_seed_gives_the_same_bytes_in_any_process() -> None:
    outputs = []
    for hash_seed, zone, language in (("0", "UTC", "C.UTF-8"), ("4711", "Asia/Tokyo", "C")):
        environment = {
            **os.environ,
            "PYTHONHASHSEED": hash_seed,
            "TZ": zone,
            "LC_ALL": language,
        }
        done = subprocess.run(
            [sys.executable, "-c", _SCRIPT], env=environment, capture_output=True, check=True
        )
        outputs.append(done.stdout)
    assert outputs[0] == outputs[1]
    assert outputs[0].count(b"\n") == 10 * len(FAMILIES)


def test_generation_yields_unique_proven_tasks_and_says_why_others_fell_out() -> None:
    outcomes = list(generate("support_resolution", 8, 7))
    unique = [o for o in outcomes if o.fate == "unique"]
    assert len(unique) == 8
    assert all(o.made.card is not None and o.made.card.proven for o in unique)
    assert all(o.reason for o in outcomes if o.fate != "unique")


def test_a_request_that_exists_already_is_drafted_again() -> None:
    first = next(iter(generate("support_resolution", 1, 7)))
    assert first.made.spec is not None
    known: Index[str] = Index()
    known.add("T-OLD1", first.made.signature)
    outcomes = list(generate("support_resolution", 1, 7, known=known))
    assert [(o.fate, o.made.plan.attempt) for o in outcomes] == [("duplicate", 0), ("unique", 1)]
    assert "T-OLD1" in outcomes[0].reason


@pytest.mark.parametrize("name", POCKET)
def test_a_pocket_task_is_small_enough_for_a_tiny_model(name: str) -> None:
    family = FAMILIES[name]
    pools: dict[bool, set[str]] = {True: set(), False: set()}
    for plan in plans(family, 60, 2):
        spec = draft(family, plan)
        assert len(spec.tools) <= 5
        assert all(
            len(records) <= 8 for named in spec.services.values() for records in named.values()
        )
        assert 16 <= len(spec.request.text.split()) <= 32
        assert 3 <= len(spec.reference) <= 5
        held = HELD_OUT in spec.tags
        written = spec.canonical().decode()
        pools[held] |= {n for n in (*PEOPLE, *SUPPLIERS) if n in written}
    assert not pools[True] & pools[False]
    assert all(pools.values())


def test_a_difficulty_that_a_family_has_not_is_refused() -> None:
    with pytest.raises(ValueError, match="has no difficulty 3; it has 1"):
        list(plans(FAMILIES["pocket_reschedule"], 1, 1, 3))
