"""Canonical JSON and the content hashes made of it.

``canonical_json(value)`` gives the one byte string of a JSON value: keys sorted by code point,
no blanks, UTF-8, shortest float. ``content_hash(value)`` is its SHA-256 in hex.

Invariants: equal values give equal bytes in every process, hash seed and locale. 1 and 1.0 are
different JSON and hash differently. Not-a-number and infinity are refused: written as null they
would collide with a real null.
"""

import hashlib
import math

import orjson

from studio.lib.jsonvalue import JsonValue

_OPTIONS = orjson.OPT_SORT_KEYS


def canonical_json(value: JsonValue) -> bytes:
    """The canonical bytes of ``value``; ValueError for what JSON cannot hold exactly."""
    try:
        data = orjson.dumps(value, option=_OPTIONS)
    except TypeError as error:  # orjson.JSONEncodeError is a TypeError
        raise ValueError(f"not a JSON value: {error}") from error
    # orjson writes NaN as null; only an output with a null in it can hide one.
    if b"null" in data and _has_not_a_number(value):
        raise ValueError("not a JSON value: NaN or infinity")
    return data


def content_hash(value: JsonValue) -> str:
    """SHA-256 of the canonical JSON, 64 hex digits: the identity of a spec, a recipe, a row."""
    return hashlib.sha256(canonical_json(value)).hexdigest()


def bytes_hash(data: bytes) -> str:
    """SHA-256 of raw bytes, 64 hex digits: the identity of a blob or a file."""
    return hashlib.sha256(data).hexdigest()


def short_hash(value: JsonValue, digits: int = 12) -> str:
    """The first ``digits`` hex digits of the content hash: for display, never for identity."""
    return content_hash(value)[:digits]


def _has_not_a_number(value: JsonValue) -> bool:
    stack: list[JsonValue] = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, dict):
            stack.extend(item.values())
        elif isinstance(item, list):
            stack.extend(item)
        elif isinstance(item, float) and not math.isfinite(item):
            return True
    return False
