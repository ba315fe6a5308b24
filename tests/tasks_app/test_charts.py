from tasks_app.charts import ruler
from tasks_app.core.validation.card import MutantResult, Run
from tests.factories.specs import green_card, small_spec


def mutant(number: int, reward: float, verdict: str) -> MutantResult:
    return MutantResult.model_validate(
        {"id": f"m{number}", "operator": "x", "title": "x", "reward": reward, "verdict": verdict}
    )


def test_every_wrong_variant_is_a_square_on_the_stack_of_its_reward() -> None:
    mutants = [mutant(n, 0.5, "killed") for n in range(3)]
    mutants += [mutant(3, 1.0, "survived"), mutant(4, 1.0, "equivalent")]
    drawn = ruler(green_card(small_spec(), mutants=tuple(mutants)))
    assert [(square.x, square.survived) for square in drawn.squares] == [
        ("160.3", False),
        ("160.3", False),
        ("160.3", False),
        ("316.3", True),
    ]
    assert len({square.y for square in drawn.squares[:3]}) == 3
    assert (drawn.null, drawn.reference, drawn.mutants) == ("6.0", "318.0", 4)


def test_a_tall_stack_stays_inside_the_drawing() -> None:
    mutants = tuple(mutant(n, 0.0, "killed") for n in range(200))
    drawn = ruler(green_card(small_spec(), mutants=mutants))
    assert min(float(square.y) for square in drawn.squares) >= 29


def test_the_drawing_is_also_a_sentence() -> None:
    card = green_card(
        small_spec(),
        probes=(
            Run(name="crawl", reward=0.0, passed=False),
            Run(name="echo", reward=0.14, passed=False),
        ),
    )
    assert ruler(card).words == (
        "Rewards on one scale from 0 to 1: null 0.00; "
        "2 cheap probes from 0.00 to 0.14, limit 0.20; "
        "1 wrong variants from 0.00 to 0.00; reference 1.00"
    )
