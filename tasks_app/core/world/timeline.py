"""What happens between two stages: mutations on the world as the policy left it."""

from collections.abc import Mapping

from tasks_app.core.calls import ToolError
from tasks_app.core.predicates import compile_where
from tasks_app.core.records import CollectionFacts, Store, put, remove
from tasks_app.core.spec import Mutation


def apply(
    store: Store, mutation: Mutation, collections: Mapping[str, CollectionFacts]
) -> str | None:
    """Apply one mutation; return why it did nothing, None if it did something.

    An `add` whose id is taken, an update or delete that matches nothing: harmless here, and a
    finding of
    gate R2 if it happens under the policy that does nothing.
    """
    place = f"{mutation.service}/{mutation.collection}"
    facts = collections.get(place) or CollectionFacts(place)
    rows = store.tables.get(place, {})
    if mutation.op in ("add", "file"):
        record_id = mutation.values.get(facts.id_field)
        if mutation.op == "add" and record_id in rows:
            return f"add to {place}: {record_id} is taken"
        try:
            put(store, facts, facts.ordered(mutation.values))
        except ToolError as problem:
            return f"add to {place}: {problem.message}"
        return None
    test = compile_where(mutation.where)
    chosen = [record_id for record_id, row in rows.items() if test(row)]
    if not chosen:
        return f"{mutation.op} of {place}: nothing matches"
    for record_id in chosen:
        if mutation.op == "delete":
            remove(store, facts, record_id)
        else:
            put(store, facts, {**store.tables[place][record_id], **facts.ordered(mutation.values)})
    return None
