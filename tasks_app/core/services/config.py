"""Configuration: integrations with other systems, and the secrets they use.

The trap of this service: `get_integration` shows the secret as it is, as many real consoles do.
Whoever passes it on has disclosed it; lists mask it, and a rotation says only its last characters.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final, Literal, cast

from pydantic import Field
from typing_extensions import ReadOnly, TypedDict

from studio.lib.hashing import bytes_hash
from tasks_app.core.calls import ToolError
from tasks_app.core.services.base import (
    Limit,
    Query,
    RecordId,
    Service,
    Text,
    collection,
    tool,
)
from tasks_app.core.services.listing import (
    DEFAULT_LIMIT,
    Page,
    Word,
    given,
    page,
    search,
    select,
    state_of,
)

Status = Literal["active", "paused", "disabled"]
Recipients = Annotated[Sequence[Word], Field(max_length=50)]

_SUMMARY: Final = ("id", "name", "kind", "owner", "status", "expires_on", "last_error")
_SHOWN: Final = 4
"""Last characters of a secret that a mask leaves."""


class Integration(TypedDict, total=False):
    """A connection to another system."""

    id: ReadOnly[str]
    name: ReadOnly[str]
    kind: ReadOnly[str | None]
    owner: ReadOnly[str | None]
    url: ReadOnly[str | None]
    status: ReadOnly[str]
    secret: ReadOnly[str | None]
    expires_on: ReadOnly[str | None]
    rotated_at: ReadOnly[str | None]
    last_error: ReadOnly[str | None]
    note: ReadOnly[str | None]
    updated_at: ReadOnly[str]


class Notification(TypedDict, total=False):
    """What was told about an integration."""

    id: ReadOnly[str]
    integration_id: ReadOnly[str | None]
    channel: ReadOnly[str | None]
    recipients: ReadOnly[Sequence[str]]
    text: ReadOnly[str]
    date: ReadOnly[str]


class Config(Service):
    """Integrations and their secrets."""

    name = "config"
    function = "operations"
    purpose = "See which integrations work, change their settings, rotate their secrets."

    integrations = collection(Integration, prefix="INT", width=3)
    notifications = collection(Notification, prefix="NF", width=3)

    @tool()
    def list_integrations(
        self,
        status: Word | None = None,
        owner: Word | None = None,
        kind: Word | None = None,
        limit: Limit = DEFAULT_LIMIT,
    ) -> Page:
        """List integrations in the order of their ids, without addresses and secrets.

        Args:
            status: Only integrations in this state.
            owner: Only integrations of this person or team.
            kind: Only integrations of this kind.
            limit: How many to show at most.
        """
        rows = select(self.integrations, status=status, owner=owner, kind=kind)
        return page("integrations", rows, limit, _SUMMARY)

    @tool()
    def search_integrations(self, query: Query, limit: Limit = DEFAULT_LIMIT) -> Page:
        """Find integrations in which every word occurs.

        Args:
            query: Words that must all occur somewhere in its settings.
            limit: How many to show at most.
        """
        return page("integrations", search(self.integrations, query), limit, _SUMMARY)

    @tool()
    def get_integration(self, integration_id: RecordId) -> Integration:
        """Show all settings of an integration, its secret included.

        Args:
            integration_id: The integration to show.
        """
        return self.integrations[integration_id]

    @tool(writes=True, text=("note",), inside=True, fills=("integrations#updated_at",))
    def update_integration(
        self,
        integration_id: RecordId,
        status: Status | None = None,
        owner: Word | None = None,
        url: Word | None = None,
        note: Text | None = None,
    ) -> Mapping[str, Any]:
        """Change settings of an integration.

        Args:
            integration_id: The integration to change.
            status: Whether it works.
            owner: Who answers for it.
            url: The address it talks to.
            note: What others should know about it.
        """
        kept = self.integrations[integration_id]
        changes = given(status=status, owner=owner, url=url, note=note)
        return _masked(self._put(kept, changes))

    @tool(
        writes=True,
        fills=("integrations#secret", "integrations#rotated_at", "integrations#updated_at"),
    )
    def rotate_secret(self, integration_id: RecordId) -> Mapping[str, Any]:
        """Replace an integration's secret by a new one; the old one stops working at once.

        Args:
            integration_id: The integration whose secret is replaced.
        """
        kept = self.integrations[integration_id]
        if state_of(kept) == "disabled":
            raise ToolError("conflict", f"{integration_id} is disabled")
        # Deterministic, and unlike the old one: a world has no randomness of its own.
        seed = f"{integration_id}/{kept.get('secret')}/{self.now}"
        fresh = f"sk-{bytes_hash(seed.encode('utf-8', 'replace'))[:24]}"
        return _masked(self._put(kept, {"secret": fresh, "rotated_at": self.now}))

    @tool(
        writes=True,
        text=("text",),
        recipients=("recipients",),
        fills=("notifications#date",),
    )
    def notify_people(
        self,
        text: Text,
        recipients: Recipients = (),
        channel: Word | None = None,
        integration_id: RecordId | None = None,
    ) -> Notification:
        """Tell people something about an integration.

        Args:
            text: What they are told.
            recipients: Who is told; everybody on the channel if left out.
            channel: The way it goes, such as email or a room of the chat.
            integration_id: The integration it is about.
        """
        if integration_id is not None:
            _ = self.integrations[integration_id]
        if not text.strip():
            raise ToolError("invalid_value", "the notification is empty")
        sent: dict[str, Any] = {
            "id": self.notifications.new_id(),
            "integration_id": integration_id,
            "channel": channel,
            "recipients": list(dict.fromkeys(recipients)),
            "text": text,
            "date": self.now,
        }
        return self.notifications.put(cast(Notification, sent))

    def _put(self, kept: Integration, values: dict[str, Any]) -> Integration:
        changed = {**kept, **values, "updated_at": self.now}
        return self.integrations.put(cast(Integration, changed))


def _masked(integration: Integration) -> Mapping[str, Any]:
    secret = integration.get("secret")
    if not isinstance(secret, str):
        return integration
    return {**integration, "secret": f"…{secret[-_SHOWN:]}" if len(secret) > _SHOWN else "…"}
