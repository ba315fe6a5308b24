"""Several processes answer in order, and one that dies is not waited for."""

import multiprocessing
import os
import signal
from multiprocessing.process import BaseProcess

import pytest

from tasks_app.core.processes import ProcessDied, several

_set: list[int] = []


def set_up(value: int) -> None:
    _set.append(value)


def plus_what_was_set(item: int) -> int:
    return item + _set[0]


def slower_the_earlier(item: int) -> int:
    return item + 0 * sum(range(200_000 * (8 - item)))


def tenth_of(item: int) -> float:
    return 10 / item


def die_at_three(item: int) -> int:
    if item == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return item


def long_answer(_: int) -> bytes:
    return bytes(10_000_000)


def children() -> set[BaseProcess]:
    return set(multiprocessing.active_children())


def test_answers_come_in_the_order_of_the_items_whoever_is_quicker() -> None:
    with several(2) as pool:
        assert list(pool.map(slower_the_earlier, range(8))) == list(range(8))
        assert list(pool.map(slower_the_earlier, range(3, 6))) == [3, 4, 5]
        assert list(pool.map(slower_the_earlier, [])) == []


def test_each_process_is_prepared_once() -> None:
    with several(2, set_up, 40) as pool:
        assert list(pool.map(plus_what_was_set, range(4))) == [40, 41, 42, 43]


def test_what_the_work_raises_is_raised_in_its_place() -> None:
    with several(2) as pool:
        answers = pool.map(tenth_of, [1, 2, 0, 5])
        assert [next(answers), next(answers)] == [10, 5]
        with pytest.raises(ZeroDivisionError):
            next(answers)


def test_a_process_that_dies_at_its_work_ends_it_with_an_error() -> None:
    with several(2) as pool, pytest.raises(ProcessDied):
        list(pool.map(die_at_three, range(6)))


def test_a_process_killed_in_the_middle_of_an_answer_ends_the_work_with_an_error() -> None:
    before = children()
    with several(1) as pool:
        answers = pool.map(long_answer, range(5))
        # The next answer is longer than the pipe holds and is not read: it cannot be whole.
        assert len(next(answers)) == 10_000_000
        for process in children() - before:
            process.kill()
            process.join()
        with pytest.raises(ProcessDied):
            list(answers)


def test_no_process_is_left_behind() -> None:
    before = children()
    with several(2) as pool:
        answers = pool.map(slower_the_earlier, range(8))
        next(answers)
        assert len(children() - before) == 2
    assert children() <= before
