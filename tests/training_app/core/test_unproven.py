import pytest

from tasks_app.core.spec import TaskSpec
from tasks_app.core.validation.proof import prove
from training_app.core import pocket
from training_app.core.unproven import PUT_BACK_SHARE, put_back

TASKS = pocket.tasks("train", 12, 5)


@pytest.mark.parametrize("spec", TASKS, ids=lambda spec: spec.slug)
def test_checks_put_back_pay_silence_and_echo_and_the_reference_still_earns_all(
    spec: TaskSpec,
) -> None:
    card = prove(put_back(spec))
    assert card.reference is not None
    assert card.null is not None
    earned = {run.name: run.reward for run in card.probes}
    assert (card.reference.reward, card.null.reward, earned["echo"]) == (
        1.0,
        PUT_BACK_SHARE,
        2 * PUT_BACK_SHARE,
    )
    assert {"N1", "N2"} <= {finding.gate for finding in card.findings}


def test_what_the_coworker_sees_and_may_do_is_the_same() -> None:
    for spec in TASKS:
        loose = put_back(spec)
        changed = {
            name for name in TaskSpec.model_fields if getattr(loose, name) != getattr(spec, name)
        }
        assert changed == {"checks"}
        assert [check.id for check in loose.checks[: len(spec.checks)]] == [
            check.id for check in spec.checks
        ]
