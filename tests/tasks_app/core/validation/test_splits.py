"""Gate V4: what a task is about, what hangs together, what moves along."""

from tasks_app.core.generation.families.catalog import FAMILIES
from tasks_app.core.generation.family import draft, plans
from tasks_app.core.validation.diversity import fingerprint
from tasks_app.core.validation.splits import (
    HELD_FAMILIES,
    HELD_OUT_TAG,
    Leak,
    clusters,
    identity_of,
    is_held_family,
    leaks,
    moved,
)
from tests.factories.examples import PAYMENT, SUPPORT, broken, example


def tokens(*names: str) -> frozenset[str]:
    return frozenset(names)


A, B, C, D = tokens("id:1", "name:x"), tokens("name:x", "id:2"), tokens("id:2"), tokens("id:3")


def test_a_task_is_about_who_is_asked_for_what_is_touched_and_what_is_written() -> None:
    assert identity_of(example(SUPPORT)) == {
        "id:CU-3307",
        "id:OR-88425",
        "id:OR-88431",
        "id:OR-88436",
        "id:OR-88439",
        "id:TK-2041",
        "id:TK-2063",
        "name:rosalind achterberg",
        "value:76.6",
        "value:rosalind.achterberg@mailbarn.example",
    }


def test_what_the_run_itself_makes_and_the_words_of_tools_are_no_identity() -> None:
    found = identity_of(example(PAYMENT))

    assert "value:fraud_suspected" not in found
    assert not any(token.startswith(("id:RP-", "value:rp-")) for token in found)
    assert {"id:IN-5521", "value:cb-0731", "value:27463.2"} <= found


def test_another_customer_is_another_identity() -> None:
    def renamed(data: dict[str, object]) -> None:
        data["request"] = {"text": "Hi, Dorte Hallgrim has written twice. Maren"}

    assert "name:dorte hallgrim" in identity_of(broken(SUPPORT, renamed))


def test_tasks_hang_together_by_anything_shared_through_others_too() -> None:
    assert clusters({"a": A, "b": B, "c": C, "d": D}) == [("a", "b", "c"), ("d",)]


def test_the_whole_cluster_moves_along() -> None:
    assert moved({"a": A, "b": B, "c": C, "d": D}, ["a"]) == (
        frozenset("abc"),
        frozenset("bc"),
    )
    assert moved({"a": A, "d": D}, ["d"]) == (frozenset("d"), frozenset())


def test_a_leak_names_both_tasks_and_what_they_share() -> None:
    assert leaks({"b": B, "d": D}, {"a": A, "c": C}) == [
        Leak("a", "b", "name:x"),
        Leak("c", "b", "id:2"),
    ]
    assert leaks({"a": A}, {"d": D}) == []


def test_pocket_tasks_of_the_pool_kept_apart_share_nothing_with_the_others() -> None:
    family = FAMILIES["pocket_refund_or_decline"]
    specs = [draft(family, plan) for plan in plans(family, 120, 9)]
    held = {n: identity_of(s) for n, s in enumerate(specs) if HELD_OUT_TAG in s.tags}
    trained = {n: identity_of(s) for n, s in enumerate(specs) if HELD_OUT_TAG not in s.tags}

    assert len(held) > 10
    assert leaks(trained, held) == []


def test_the_table_of_held_families_is_fixed_and_keeps_to_two_tracks() -> None:
    assert set(HELD_FAMILIES) == {"claw_eval", "clawmark"}
    assert is_held_family("offline_fact_check")
    assert not is_held_family("support_resolution")


def test_no_structure_of_a_held_family_is_one_of_the_others() -> None:
    structures: dict[bool, set[str]] = {True: set(), False: set()}
    for name, family in FAMILIES.items():
        drafts = (draft(family, plan) for plan in plans(family, 8, 3))
        structures[is_held_family(name)].update(map(fingerprint, drafts))

    assert structures[True] & structures[False] == set()
