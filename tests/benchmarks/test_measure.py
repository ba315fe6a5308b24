"""What the benchmarks say is what was measured."""

import pytest

from benchmarks.measure import Subject, Timing, measure, print_table, time_text
from benchmarks.samples import largest, office
from tasks_app.core.grading.grade import grade
from tasks_app.core.program import reference_run
from tasks_app.core.world.world import World


def test_subjects_are_timed_in_turns_and_the_first_turn_does_not_count() -> None:
    seen: list[str] = []
    subjects = [
        Subject("a", 1, lambda given: seen.append(f"a{given}"), lambda: 1),
        Subject("b", 2, lambda _: seen.append("b")),
    ]
    timings = measure(subjects, 2)
    assert seen == ["a1", "b", "a1", "b", "a1", "b"]
    assert [(t.name, len(t.cpu), len(t.wall)) for t in timings] == [("a", 2, 2), ("b", 2, 2)]


def test_a_timing_says_median_rate_and_spread() -> None:
    timing = Timing("x", (0.002, 0.001, 0.003), (0.01, 0.02, 0.03))
    assert (timing.seconds, timing.rate, timing.waited) == (0.002, 500.0, 0.02)
    assert timing.spread == "-50% +50%"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(12.0, "12 s"), (0.0025, "2.5 ms"), (4.81e-6, "4.81 µs"), (3.1e-8, "31 ns")],
)
def test_times_are_written_in_the_unit_that_suits_them(seconds: float, text: str) -> None:
    assert time_text(seconds) == text


def test_columns_stand_under_one_another(capsys: pytest.CaptureFixture[str]) -> None:
    print_table("Title", ("what", "time"), [("a", "1 s"), ("longer", "10 ms")])
    assert capsys.readouterr().out == (
        "\nTitle\n  what     time\n  a         1 s\n  longer  10 ms\n"
    )


def test_the_measured_office_is_large_and_its_tools_work() -> None:
    spec = office(120)
    assert sum(len(rows) for place in spec.services.values() for rows in place.values()) >= 120
    world = World(spec)
    first = next(iter(world.seed.ground.start["orders/orders"]))
    assert world.call("orders_get_order", {"order_id": first}).ok


def test_the_largest_task_is_solved_over_five_days() -> None:
    spec = largest()
    records = sum(len(rows) for place in spec.services.values() for rows in place.values())
    assert (len(spec.stages), len(spec.tools), records >= 200) == (5, 30, True)
    world, done = reference_run(spec)
    assert done.problems == []
    assert grade(spec.checks, spec.constraints, world.evidence()).passed
