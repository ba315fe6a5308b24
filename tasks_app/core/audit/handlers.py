"""Rigged tools: what is wrong with a tool's declaration or behaviour (gates T1–T3)."""

from typing import Any, Final

from tasks_app.core.audit import rigs, spots
from tasks_app.core.audit.planter import SpecPlanter
from tasks_app.core.audit.rigs import Rigged
from tasks_app.core.services.catalog import services


def _tool(
    gate: str,
    name: str,
    title: str,
    rigged: Rigged,
    *,
    also: tuple[str, ...] = (),
    upstream: str = "",
) -> SpecPlanter:
    return SpecPlanter(
        gate, name, title, rigged.plant, also=also, upstream=upstream, kind="tool", rig=rigged.rig
    )


def _no_such_property(schema: dict[str, Any]) -> None:
    schema["required"] = [*schema.get("required", []), "region"]


def _no_type(schema: dict[str, Any]) -> None:
    schema["type"] = "string"


def _lost_reference(schema: dict[str, Any]) -> None:
    schema["properties"]["page"] = {"$ref": "#/$defs/Page", "description": "Which page."}


def _more_than_it_takes(schema: dict[str, Any]) -> None:
    schema["properties"]["priority"] = {"type": "string", "description": "Only of this priority."}


def _text_for_number(schema: dict[str, Any]) -> None:
    for own in schema["properties"].values():
        own["type"] = "string" if own.get("type") != "string" else "integer"


HANDLERS: Final = (
    _tool("T1", "no_description", "A tool without a description",
          Rigged("count_unsaid", rigs.undescribed)),
    _tool("T1", "no_argument_description", "An argument without a description",
          Rigged("count_some", rigs.undescribed_argument)),
    _tool("T1", "untyped_argument", "An argument without a type",
          Rigged("count_any", rigs.untyped_argument), also=("T3",)),
    _tool("T1", "camel_case", "A name that is none of ours",
          Rigged("", rigs.count_rows, name="CountRows")),
    _tool("T1", "hyphens", "A name with hyphens",
          Rigged("", rigs.count_rows, name="count-rows")),
    _tool("T1", "one_word", "A name without service and noun",
          Rigged("", rigs.count_rows, name="count")),
    _tool("T1", "says_read", "A tool that says it reads, and writes",
          Rigged("peek_rows", rigs.writes_as_read), also=("T2",)),
    _tool("T1", "says_write", "A tool that says it writes, and never does",
          Rigged("finish_row", rigs.never_writes, kind="write"), also=("T2",)),
    _tool("T1", "text_of_no_argument", "A tool that names a text argument it hasn't",
          Rigged("count_texts", rigs.count_rows, facts=rigs.declared(text=("body",)))),
    _tool("T1", "requires_no_argument", "A schema requires an argument that it doesn't list",
          Rigged("count_regions", rigs.count_rows, facts=rigs.with_schema(_no_such_property)),
          also=("T2", "T3"),
          upstream="Claw-Eval D09: a service's required argument that the schema lacks"),
    _tool("T2", "key_error", "A tool that crashes on an unknown id",
          Rigged("show_row", rigs.key_error)),
    _tool("T2", "index_error", "A tool that crashes on a position that isn't there",
          Rigged("show_place", rigs.index_error)),
    _tool("T2", "division", "A tool that divides by what it is given",
          Rigged("share_rows", rigs.division)),
    _tool("T2", "unencodable", "A tool whose answer is no JSON",
          Rigged("list_ids", rigs.unencodable)),
    _tool("T2", "more_than_it_takes", "A schema offers an argument that the tool refuses",
          Rigged("count_wide", rigs.count_rows, facts=rigs.with_schema(_more_than_it_takes)),
          also=("T1", "T3"),
          upstream="Claw-Eval D08: advertised tool arguments that the service ignores"),
    _tool("T2", "other_types", "A schema says text where the tool wants a number",
          Rigged("share_text", rigs.division, facts=rigs.with_schema(_text_for_number)),
          also=("T1", "T3"),
          upstream="Claw-Eval: declarations written by hand beside the service"),
    _tool("T3", "no_object", "A schema that is no object",
          Rigged("count_flat", rigs.count_rows, facts=rigs.with_schema(_no_type)),
          also=("T1",)),
    _tool("T3", "lost_reference", "A schema refers to a definition that isn't there",
          Rigged("count_pages", rigs.count_rows, facts=rigs.with_schema(_lost_reference)),
          also=("T1", "T2")),
    _tool("T3", "empty_schema", "A tool without a schema",
          Rigged("count_bare", rigs.count_rows, facts=rigs.declared(parameters=None)),
          also=("T1",)),
    _tool("M3", "deep", "A tool that a long text brings down",
          Rigged("measure_text", rigs.deep), also=("T2",)),
    _tool("D1", "by_clock", "The reference reads a tool that tells the time",
          Rigged("count_now", rigs.by_clock, called=True), also=("X2",)),
    _tool("D1", "by_chance", "The reference reads a tool that makes up a number",
          Rigged("count_token", rigs.by_chance, called=True), also=("X2",)),
    _tool("D1", "by_address", "The reference reads a tool that tells where it lies in memory",
          Rigged("count_place", rigs.by_address, called=True), also=("X2",)),
    _tool("D1", "by_counter", "The reference reads a tool that counts its calls over all worlds",
          Rigged("count_asked", rigs.by_counter, called=True), also=("X2",)),
    _tool("D1", "offered_by_clock", "A tool that tells the time is offered and never called",
          Rigged("count_today", rigs.by_clock), also=("X2", "T2")),
)  # fmt: skip
"""In the order of the gates."""


class _Stamps(Rigged):
    """A tool that the reference calls and that writes: what it changes is allowed."""

    def plant(self, data: dict[str, Any], rng: Any) -> bool:
        super().plant(data, rng)
        service, _ = spots.home(data)
        facts = services()[service].collections()
        place = next((a for a in facts if data["services"][service].get(a.partition("/")[2])), None)
        if place is None:
            return False
        first = min(str(r["id"]) for r in data["services"][service][place.partition("/")[2]])
        data["write_set"].append(f"{place}/{first}")
        return True


STAMPS: Final = (
    _tool("X2", "stamps_by_clock", "The reference writes the time of the machine",
          _Stamps("stamp_row", rigs.stamps_by_clock, kind="write", called=True), also=("D1",)),
    _tool("X2", "stamps_by_chance", "The reference writes a number by chance",
          _Stamps("number_row", rigs.stamps_by_chance, kind="write", called=True), also=("D1",)),
    _tool("X2", "stamps_by_counter", "The reference writes how often it ran in this process",
          _Stamps("tally_row", rigs.stamps_by_counter, kind="write", called=True), also=("D1",)),
)  # fmt: skip
"""A field that differs from run to run."""
