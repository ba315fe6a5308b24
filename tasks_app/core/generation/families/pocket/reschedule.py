"""Pocket: a meeting, moved to the first free slot of a part of the day."""

import random
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from tasks_app.core.generation.cast import Cast
from tasks_app.core.generation.families.pocket.draft import Draft, PocketFamily
from tasks_app.core.generation.forms import Json, match, ref, step


class Reschedule(PocketFamily):
    """The meeting by its attendee, labelled free slots, move, confirm."""

    name = "pocket_reschedule"
    title = "Pocket: reschedule"
    purpose = (
        "Find a meeting by its attendee, take the first free slot of a part of the day, move it."
    )
    subtypes = ("to_morning", "to_midday", "to_afternoon")

    def draft(self, subtype: str, level: int, rng: random.Random) -> Mapping[str, Any]:
        """Return a written spec."""
        d = Draft("reschedule", subtype, Cast(rng))
        part = subtype.removeprefix("to_")
        names = d.cast.sample(d.people, 4)  # a short listing: it is read whole
        who = names[0]
        day = d.clock.day + timedelta(days=rng.randrange(1, 6))
        hours = {"morning": (9, 10), "midday": (11, 12, 13), "afternoon": (14, 15, 16, 17)}
        wanted = hours[part]
        first_free = rng.randrange(0, min(2, len(wanted)))
        # never the first of the day: the first of the list is then somebody else's
        start_hour = rng.choice([h for p, hs in hours.items() if p != part for h in hs if h > 10])
        desk = "desk@lanternyard.example"
        number = rng.randrange(100, 800)
        rows: list[Json] = []

        def book(hour: int, name: str, *attendees: str) -> None:
            begins = d.clock.at(day, hour * 60)
            rows.append(
                {
                    "id": "",
                    "title": f"Meeting with {name}",
                    "start": begins,
                    "end": d.clock.at(day, hour * 60 + 60),
                    "attendees": list(attendees),
                    "status": "confirmed",
                }
            )

        book(start_hour, who, desk, _address(who))
        taken = [wanted[i] for i in range(first_free)]
        others = [
            h
            for hs in hours.values()
            for h in hs
            if h not in (start_hour, wanted[first_free]) and h not in taken
        ]
        early = (
            [h for h in others if h < start_hour][:1]
            if not any(h < start_hour for h in taken)
            else []
        )
        rest = [h for h in others if h not in early]
        busy = [*taken, *early, *d.cast.sample(rest, 3 - len(taken) - len(early))]
        for hour, name in zip(busy, names[1:], strict=True):
            book(hour, name, desk, _address(name))
        rows.sort(key=lambda e: str(e["start"]))
        for row in rows:
            number += rng.randrange(1, 9)
            row["id"] = f"EV-{number}"
        event = next(row for row in rows if row["title"] == f"Meeting with {who}")
        target = d.clock.at(day, wanted[first_free] * 60)
        d.services = {"calendar": {"events": rows}}
        d.tools = ["calendar_list_events", "calendar_find_slots", "calendar_move_event"]
        d.rule(
            "Move the meeting, never cancel it or book a second one.",
            "Look for free slots first and take the first of the part asked for.",
        )
        d.tools.append("calendar_cancel_event")

        def own(field: str) -> Json:
            return ref("found", "events", where={"title": f"Meeting with {who}"}, field=field)

        d.steps = [
            step("found", "calendar_list_events"),
            step(
                "slots",
                "calendar_find_slots",
                event_id=own("id"),
                day={"fn": "date", "args": [own("start")]},
                part=part,
            ),
            step(
                "done",
                "calendar_move_event",
                event_id=own("id"),
                start=ref("slots", "slots", sort="start", take="first", field="start"),
            ),
        ]
        where = {"id": event["id"]}
        d.checks = [
            (
                1,
                match(
                    "o_moved",
                    f"{event['id']} is in the {part}",
                    "calendar/events",
                    where,
                    {
                        "start": {
                            "between": [
                                d.clock.at(day, wanted[0] * 60),
                                d.clock.at(day, wanted[-1] * 60),
                            ]
                        }
                    },
                ),
            ),
            (
                1,
                match(
                    "o_slot",
                    "It is in the first free slot",
                    "calendar/events",
                    where,
                    {"start": target, "end": d.clock.at(day, wanted[first_free] * 60 + 60)},
                    requires=["o_moved"],
                ),
            ),
        ]
        d.write_set = [f"calendar/events/{event['id']}#start,end,updated_at"]
        d.forbid("never cancel it", "calendar_cancel_event")
        d.constraints.append(
            {
                "id": "k_look",
                "kind": "require_before",
                "policy": "rule",
                "sentence": "Look for free slots first",
                "severity": "gate",
                "write": {"tool": "calendar_move_event"},
                "needs": {"tool": "calendar_find_slots", "same": {"event_id": "event_id"}},
            }
        )
        hour = wanted[first_free]
        clock = [f"{hour:02d}:00", f"{hour}:00", f"{hour}.00"]
        d.answer(
            "Moved {event} to {start}.",
            [[event["id"]], [target, *clock]],
            event=ref("done", "id"),
            start=ref("done", "start"),
        )
        d.capabilities = ["C1", "C7", "C8", "C9", "C19"]
        return d.written(
            f"New slot for {who}",
            d.request(who, part=part),
            "Reply with the meeting's id and its new start.",
        )


def _address(name: str) -> str:
    return f"{name.lower().replace(' ', '.')}@guests.example"
