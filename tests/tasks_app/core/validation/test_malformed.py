"""M3: rollouts that are wrong in form break nothing and earn nothing."""

from dataclasses import replace

import pytest

from tasks_app.core.calls import ToolError
from tasks_app.core.editing import apply
from tasks_app.core.services.catalog import tools
from tasks_app.core.spec import load_spec
from tasks_app.core.validation.malformed import HUGE, garbage, survives
from tasks_app.core.validation.proof import prove
from tasks_app.core.validation.trial import Trial
from tests.factories.examples import EXAMPLES, SUPPORT, Written, broken, check, example


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_survives_garbage(name: str) -> None:
    assert list(survives(Trial(example(name)))) == []


def test_garbage_is_of_every_kind() -> None:
    calls = garbage(Trial(example(SUPPORT)))

    assert b'{"a":' in [raw for _, raw in calls]
    assert "no_such_tool" in [tool for tool, _ in calls]
    assert [tool for tool, raw in calls if HUGE.encode() in raw] == [
        "helpdesk_add_comment",
        "helpdesk_search_tickets",
    ]
    assert max(calls.count(call) for call in calls) > 3


def test_a_tool_that_breaks_on_a_huge_text_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    tool = tools()["helpdesk_add_comment"]
    right = tool.function

    def rigged(service: object, *, body: str, **rest: object) -> object:
        if len(body) > 2_000:
            raise RecursionError
        return right(service, body=body, **rest)

    trial = Trial(example(SUPPORT))
    offered = {**trial.seed.offered, tool.facts.name: replace(tool, function=rigged)}
    monkeypatch.setattr(trial.seed, "offered", offered)

    assert {f.message.partition(":")[0] for f in survives(trial)} == {
        "helpdesk_add_comment breaks on a malformed call"
    }


def test_a_refusal_is_an_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    tool = tools()["helpdesk_search_tickets"]

    def refused(*_: object, **__: object) -> object:
        raise ToolError("invalid_value", "no")

    trial = Trial(example(SUPPORT))
    offered = {**trial.seed.offered, tool.facts.name: replace(tool, function=refused)}
    monkeypatch.setattr(trial.seed, "offered", offered)

    assert list(survives(trial)) == []


def test_what_pays_for_silence_is_gated() -> None:
    def paid(data: Written) -> None:
        body = check(data, "o_first")
        body.update(requires=[], weight=0.25, where={"id": "TK-1988"}, expect={"status": "closed"})
        check(data, "o_amount")["weight"] = 0.05

    spec = broken(SUPPORT, paid)
    found = [f for f in survives(Trial(spec)) if f.suggestion is not None]

    assert [f.message for f in found] == ["malformed calls and an empty answer earn 0.25"]
    assert found[0].suggestion is not None
    mended = load_spec(apply(spec.written(), found[0].suggestion.patch))
    assert [f for f in prove(mended).findings if f.gate == "M3"] == []
