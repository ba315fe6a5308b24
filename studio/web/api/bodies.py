"""What a client sends: an object of known members and no others.

A misspelt member is refused: left out in silence, `{"filter": …}` in place of `{"q": …}` would mean
every task there is.
"""

from pydantic import BaseModel, ConfigDict


class Body(BaseModel):
    """The base of every schema that a request is read by."""

    model_config = ConfigDict(extra="forbid")
