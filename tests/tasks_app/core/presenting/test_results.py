from tasks_app.core.presenting.results import Standing, reference_and_null
from tests.factories.specs import small_spec, small_written


def test_the_reference_holds_and_doing_nothing_says_what_it_lacks() -> None:
    worked, idle = reference_and_null(small_spec())
    assert worked is not None
    assert (worked.reward, idle.reward) == (1.0, 0.0)
    assert worked.checks == {"closed": Standing(1.0, "holds", "", "")}
    assert idle.checks == {"closed": Standing(0.0, "fails", "status is open; expected closed", "")}


def test_a_check_that_waits_for_another_names_it() -> None:
    first = small_written()["checks"][0]
    checks = [
        {**first, "weight": 0.5},
        {
            "id": "told", "kind": "answer", "component": "report", "weight": 0.5,
            "requires": ["closed"], "text": ["TK-9"],
        },
    ]  # fmt: skip
    worked, idle = reference_and_null(small_spec(checks=checks))
    assert worked is not None
    assert worked.checks["told"] == Standing(0.0, "fails", "the reply lacks TK-9", "")
    assert idle.checks["told"] == Standing(0.0, "fails", "", "closed")


def test_without_a_reference_only_doing_nothing_stands() -> None:
    worked, idle = reference_and_null(small_spec(reference=[]))
    assert (worked, idle.reward) == (None, 0.0)
