"""What the policy is told: the request, the system prompt and the tools, as the model sees them.

Invariant: only what a colleague at that desk would know is shown. Title, slug, subtype, tags,
capabilities, checks and provenance never are: they may name the answer.
"""

from collections.abc import Mapping
from typing import Any

from tasks_app.core.calls import ToolFacts
from tasks_app.core.spec import Person, TaskSpec


def request_text(spec: TaskSpec) -> str:
    """The request in the colleague's words; attachments are named, their sidecars never shown."""
    attached = [f"- {a.name} ({a.media_type})" for a in spec.request.attachments]
    if not attached:
        return spec.request.text
    return "\n".join([spec.request.text, "", "Attached:", *attached])


def system_prompt(spec: TaskSpec) -> str:
    """Who the coworker is, whom it works for, by which rules, and what its reply must contain."""
    place = spec.workplace
    coworker = place.coworker
    desk = f" Your mailbox is {coworker.mailbox}." if coworker.mailbox else ""
    parts = [
        f"You are the {coworker.role} at {place.organisation}.{desk}",
        f"It is {spec.clock.start} ({spec.clock.zone}). The clock stands still while you work.",
        _ways(spec),
        f"# Who asks\n\n{_person(place.requester)}",
    ]
    others = [p for p in place.people if p.name != place.requester.name]
    if others:
        parts.append("# People\n\n" + "\n".join(f"- {_person(person)}" for person in others))
    if place.policies:
        rules = "\n\n".join(f"## {policy.title}\n\n{policy.text}" for policy in place.policies)
        parts.append(f"# Rules\n\n{rules}")
    if place.output_contract:
        parts.append(f"# Your reply\n\n{place.output_contract}")
    return "\n\n".join(parts)


def _ways(spec: TaskSpec) -> str:
    lines = ["Do the work with the tools; what they return is the only truth about the records."]
    if len(spec.stages) > 1:
        lines.append(
            "The work goes over several sittings. A reply without tool calls ends the present one; "
            "you are then told what happened since."
        )
    else:
        lines.append("A reply without tool calls ends the work, so write it when all is done.")
    return " ".join(lines)


def _person(person: Person) -> str:
    role = f", {person.role}" if person.role else ""
    mailbox = f" <{person.mailbox}>" if person.mailbox else ""
    return f"{person.name}{role}{mailbox}"


def offered_names(spec: TaskSpec) -> list[str]:
    """Return the names under which the policy is offered tools, in the spec's order."""
    aliased: dict[str, list[str]] = {}
    for alias, target in spec.tool_aliases.items():
        aliased.setdefault(target.tool, []).append(alias)
    names = [shown for name in spec.tools for shown in aliased.get(name) or [name]]
    # An imported task may list no tool of ours: then its own names are all there is.
    names += [a for a, target in spec.tool_aliases.items() if target.tool not in spec.tools]
    return names


def tool_schemas(spec: TaskSpec, facts: Mapping[str, ToolFacts]) -> tuple[dict[str, Any], ...]:
    """The offered tools in the form of function calling, in the spec's order.

    An imported task keeps its own names, descriptions and parameters, where it states them.
    """
    return tuple(_schema(spec, name, facts) for name in offered_names(spec))


def _schema(spec: TaskSpec, name: str, facts: Mapping[str, ToolFacts]) -> dict[str, Any]:
    alias = spec.tool_aliases.get(name)
    declared = facts.get(alias.tool if alias else name)
    description = (alias.description if alias else "") or (declared.description if declared else "")
    parameters = (alias.parameters if alias else None) or (
        declared.parameters if declared else None
    )
    return {
        "type": "function",
        "function": {
            "name": name,
            "description": description,
            "parameters": dict(parameters or {"type": "object", "properties": {}}),
        },
    }
