"""The simulated colleague: rules, not a model. The same question always gets the same answer."""

from tasks_app.core.predicates import contains_piece, fold
from tasks_app.core.spec import Fact, UserScript
from tasks_app.core.world.state import Context


def answer(script: UserScript, context: Context, text: str) -> tuple[str, Context]:
    """Return the colleague's answer to a message and the context after it.

    All facts whose words occur are told, in the order of the script; patience counts messages.
    """
    if context.rounds >= script.patience:
        return script.out_of_patience, context._replace(rounds=context.rounds + 1)
    folded = fold(text)
    facts = [fact for fact in script.facts if asked(fact, folded)]
    told = context.told + tuple(fact.id for fact in facts if fact.id not in context.told)
    reply = " ".join(fact.text for fact in facts) if facts else script.otherwise
    return reply, context._replace(told=told, rounds=context.rounds + 1)


def asked(fact: Fact, folded: str) -> bool:
    """Say whether a folded message asks for a fact: any alternative, all of whose words occur."""
    return any(
        all(
            any(contains_piece(folded, word) for word in ((w,) if isinstance(w, str) else w))
            for w in alternative
        )
        for alternative in fact.asks
    )
