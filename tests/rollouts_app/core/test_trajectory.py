"""Storing trajectories and reading them back, damaged ones too."""

from dataclasses import replace

import zstandard

from rollouts_app.core.trajectory import (
    DamagedTurn,
    RecordedCall,
    RecordedTurn,
    Trajectory,
    decode,
    encode,
)
from tests.rollouts_app.specs import example, run


def lines_of(stored: bytes) -> list[bytes]:
    """The decompressed lines."""
    return zstandard.ZstdDecompressor().stream_reader(stored).read().splitlines()


def packed(lines: list[bytes]) -> bytes:
    """The lines, compressed."""
    return zstandard.ZstdCompressor().compress(b"\n".join(lines) + b"\n")


def test_a_trajectory_comes_back_as_it_was() -> None:
    trajectory = run(example("support_resolution")).trajectory
    assert decode(encode(trajectory)) == trajectory


def test_a_line_stands_for_a_turn_between_an_opening_and_a_closing_line() -> None:
    trajectory = run(example("support_resolution")).trajectory
    assert len(lines_of(encode(trajectory))) == len(trajectory.turns) + 2


def test_every_call_carries_state_key_and_anchor_key() -> None:
    trajectory = run(example("support_resolution")).trajectory
    calls = [c for t in trajectory.turns if isinstance(t, RecordedTurn) for c in t.calls]
    assert {len(call.state_key) for call in calls} == {32}
    # Reads change no record, so before the first write the states are one and the anchors many.
    before_the_write = calls[:12]
    assert len({call.state_key for call in before_the_write}) == 1
    assert len({call.anchor_key for call in before_the_write}) == 12


def test_arguments_that_are_no_json_are_kept_as_written() -> None:
    call = RecordedCall(
        "c", "kb_search", b'{"query": \n nope', b"{}", "wrong_type", "0" * 32, "1" * 32
    )
    trajectory = Trajectory("h", "p", 0, (RecordedTurn(0, "main", calls=(call,)),), "finished", "2")
    assert decode(encode(trajectory)) == trajectory


def test_a_damaged_line_is_kept_raw_and_hides_no_neighbour() -> None:
    trajectory = run(example("support_resolution")).trajectory
    lines = lines_of(encode(trajectory))
    lines[3] = b'{"turn": 2, "stage'
    read = decode(packed(lines))
    damaged = read.turns[2]
    assert isinstance(damaged, DamagedTurn)
    assert damaged.raw == b'{"turn": 2, "stage'
    assert read.turns[:2] + read.turns[3:] == trajectory.turns[:2] + trajectory.turns[3:]


def test_a_line_without_a_needed_part_is_damaged() -> None:
    lines = lines_of(encode(run(example("support_resolution")).trajectory))
    lines[1] = b'{"turn": 0}'
    damaged = decode(packed(lines)).turns[0]
    assert damaged == DamagedTurn(0, b'{"turn": 0}', "no 'stage'")


def test_parts_of_another_kind_are_damage_too() -> None:
    lines = lines_of(encode(run(example("support_resolution")).trajectory))
    head = b'{"format": "coworker-trajectory/1", "spec_hash": "h", "policy": "p", "seed": "x"}'
    odd = [b'{"turn": 0, "stage": "main", "calls": ["x"]}', b'{"end": 5}', b"[]"]
    read = decode(packed([head, *odd, lines[1]]))
    problems = [turn.problem for turn in read.turns if isinstance(turn, DamagedTurn)]
    assert problems == [f"expected an object, found {found}" for found in ("'x'", "5", "[]")]
    assert len(read.turns) == 4
    assert read.damage == (
        "the seed 'x' is no number",
        "the closing line is missing: the recording is short",
    )


def test_a_short_file_says_so_and_shows_what_is_left() -> None:
    trajectory = run(example("support_resolution")).trajectory
    stored = encode(trajectory)
    read = decode(packed(lines_of(stored)[:4]))
    assert read.turns == trajectory.turns[:3]
    assert read.damage == ("the closing line is missing: the recording is short",)


def test_a_damaged_archive_says_so() -> None:
    read = decode(b"not compressed at all")
    assert read.turns == ()
    assert [words.partition(":")[0] for words in read.damage] == [
        "the compressed file is damaged",
        "the opening line is missing",
        "the closing line is missing",
    ]


def test_damaged_turns_survive_being_stored_again() -> None:
    trajectory = run(example("support_resolution")).trajectory
    hurt = replace(trajectory, turns=(DamagedTurn(0, b"{oops", "bad"), *trajectory.turns[1:]))
    again = decode(encode(hurt)).turns[0]
    assert isinstance(again, DamagedTurn)
    assert again.raw == b"{oops"
