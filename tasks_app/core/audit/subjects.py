"""The sound tasks that defects are planted in, and what a proof says of a changed one."""

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from tasks_app.core.spec import SpecError, load_spec
from tasks_app.core.validation.card import Finding
from tasks_app.core.validation.proof import prove
from tasks_app.core.validation.repair import mend


@dataclass(frozen=True)
class Subject:
    """A task that is sound, or said to be."""

    name: str
    """Where it comes from: family, subtype, seed."""
    written: Mapping[str, Any]

    def copy(self) -> dict[str, Any]:
        """Return the written spec to be changed."""
        return copy.deepcopy(dict(self.written))

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        """What the gates find in it as it is: nothing, if it is sound."""
        return findings_of(self.written)

    def new_findings(self, data: Mapping[str, Any]) -> tuple[Finding, ...]:
        """Return what the gates find in the changed task and not in the sound one."""
        known = {(one.gate, one.path, one.message) for one in self.findings}
        return tuple(
            one for one in findings_of(data) if (one.gate, one.path, one.message) not in known
        )

    def mended(self, data: Mapping[str, Any]) -> tuple[bool, str]:
        """Let the rules mend the changed task; return whether a proof then holds, and why not."""
        result = mend(data)
        if result.spec is None or result.quarantined is not None:
            return False, result.quarantined or "it never became a task"
        return prove(result.spec).proven, "the mended task does not prove a second time"


def findings_of(data: Mapping[str, Any]) -> tuple[Finding, ...]:
    """Prove written data; what is no spec at all is what S1 finds."""
    try:
        spec = load_spec(data)
    except SpecError as problem:
        return tuple(
            Finding(gate="S1", severity="block", path=one.path, message=one.message)
            for one in problem.problems
        )
    return prove(spec).findings
