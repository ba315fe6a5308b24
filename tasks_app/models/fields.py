"""Columns of our own: JSON that keeps what was written, a MinHash as bytes."""

import struct
from typing import Any, Final

import orjson
from django.db import models
from django.db.backends.base.base import BaseDatabaseWrapper
from psycopg.types.json import Json

from studio.lib.similarity import Signature

_SIGNATURE: Final = struct.Struct("<128Q")


class WrittenJSONField(models.JSONField):
    """JSON in PostgreSQL's ``json`` rather than ``jsonb`` type, so that keys keep their order.

    People read records in the order in which their author wrote the fields; jsonb sorts keys by
    length. Nothing filters on this column: lists have columns of their own.
    """

    def db_type(self, connection: BaseDatabaseWrapper) -> str:
        """Name the column type."""
        return "json"

    def get_internal_type(self) -> str:
        """Keep bulk inserts from quoting whole documents into arrays, which is slow."""
        return "WrittenJSONField"

    def get_db_prep_value(
        self,
        value: Any,
        connection: BaseDatabaseWrapper,
        prepared: bool = False,  # noqa: FBT001, FBT002 - Django's signature
    ) -> Any:
        """Send ``json``; Django would send ``jsonb``, which loses the order on the way."""
        return None if value is None else Json(value, dumps=orjson.dumps)

    def from_db_value(self, value: Any, expression: Any, connection: BaseDatabaseWrapper) -> Any:
        """Return what psycopg has parsed already."""
        return value


def pack_signature(entry: Signature) -> bytes | None:
    """Write a MinHash for a binary column; None for a text without a word."""
    return _SIGNATURE.pack(*entry) if entry else None


def unpack_signature(stored: bytes | memoryview | None) -> Signature:
    """Read a MinHash from a binary column."""
    return _SIGNATURE.unpack(stored) if stored else ()
