"""Gates and what the newest audit says of them."""

from ninja import Schema


class GateAuditOut(Schema):
    """What the newest audit says of a gate: shares of the defects planted for it."""

    planted: int
    detected: float | None
    repaired: float | None
    """None where nothing that was planted is meant to be mended by rule."""
    false_alarms: int


class GateOut(Schema):
    """A gate in words, and what it has done so far."""

    id: str
    title: str
    checks: str
    why: str
    repair: str
    findings: int
    """Tasks whose current proof has a finding of it."""
    lost: int
    """Attempts of generation that fell at it, of the newest 20,000."""
    repairs: int
    """Repairs that it asked for in these."""
    repairs_proven: int
    audit: GateAuditOut | None
