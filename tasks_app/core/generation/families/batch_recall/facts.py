"""What is true in one recall: batches, the pallets they went on, who got them, what comes back."""

from datetime import timedelta
from typing import Final

from tasks_app.core.generation.cast import Cast, Clock
from tasks_app.core.generation.families.batch_recall import words
from tasks_app.core.generation.forms import Json
from tasks_app.core.generation.week import working_days

ONE: Final = "one_batch"
MIXED: Final = "mixed_pallets"
WRONG: Final = "wrong_lot"
DAYS: Final = {1: 2, 2: 2, 3: 3, 4: 4, 5: 4}
"""Difficulty → working days."""


class RecallFacts:
    """A house that packs something, and where it went."""

    def __init__(self, subtype: str, level: int, cast: Cast):
        self.subtype = subtype
        self.level = level
        self.cast = cast
        rng = self.rng = cast.rng
        start = cast.clock()
        minute = rng.randrange(8 * 60, 10 * 60, 5)
        week = working_days(start.day, DAYS[level])
        self.mornings = [Clock(day, minute, start.zone) for day in week]
        self.clock = self.mornings[0]
        suffix, self.trade, goods = rng.choice(words.HOUSES)
        self.product, self.other_product = cast.sample(goods, 2)
        self.house = cast.firm(suffix)
        self.lead, self.officer, self.lab = (cast.person(self.house.domain) for _ in range(3))
        self.lead_role, self.own_role = rng.choice(words.ROLES)
        self.mailbox = f"recall@{self.house.domain}"
        first = rng.randrange(11, 40)
        self.batches_id, self.pallets_id, self.shipments_id, self.returns_id = (
            f"TB-{first + 3 * n}" for n in range(4)
        )
        self._draw_batches()
        self._draw_pallets()
        self._draw_moves()
        self._draw_returns()

    @property
    def writes_lab(self) -> bool:
        """Whether the laboratory writes on the second day."""
        return self.level >= 2

    @property
    def counts(self) -> bool:
        """Whether returns are counted."""
        return self.level >= 3

    @property
    def corrects(self) -> bool:
        """Whether a count moves before the last report."""
        return self.level >= 4

    def _draw_batches(self) -> None:
        """The batch that is called back, one that may follow, and others packed around them."""
        rng = self.rng
        number = rng.randrange(2100, 7000)
        day = self.clock.day - timedelta(days=rng.randrange(20, 40))
        line = rng.randrange(1, 5)
        self.batches: list[Json] = []
        drawn = ((-3, line), (-1, line), (0, line % 4 + 1), (0, line), (2, line), (3, 1), (0, line))
        for place, (offset, on) in enumerate(drawn):
            number += rng.randrange(2, 9)
            self.batches.append(
                {
                    "id": f"L{number}",
                    "table_id": self.batches_id,
                    "product": self.other_product if place in (0, 6) else self.product,
                    "line": f"line {on}",
                    "packed_on": (day + timedelta(days=offset)).isoformat(),
                }
            )
        self.batch, self.second = self.batches[3], self.batches[4]

    def _draw_pallets(self) -> None:
        cast, rng = self.cast, self.rng
        count = {1: 2, 2: 2, 3: 3, 4: 3, 5: 4}[self.level]
        more = 2 if self.writes_lab and self.subtype != MIXED else 0
        if self.writes_lab and self.subtype == MIXED:
            count += 1  # one of them is cleared
        others = [b["id"] for b in self.batches[::-1] if b not in (self.batch, self.second)]
        labels = [self.batch["id"]] * count + [self.second["id"]] * (2 if self.writes_lab else 1)
        labels += [others[n % len(others)] for n in range(4)]
        if self.subtype == MIXED:
            # Some stand first on the label, some second; whole pallets are meant all the same.
            for place in range(count):
                pair = [self.batch["id"], rng.choice(others)]
                labels[place] = " + ".join(cast.shuffled(pair))
            labels[count] = f"{self.second['id']} + {others[0]}"
        self.pallets: list[Json] = []
        self.shipments: list[Json] = []
        units = cast.sample(range(24, 240), len(labels) + 2)
        drawn = [(label, "shipped") for label in labels]
        drawn += [(self.batch["id"], "used"), (self.second["id"], "used")]
        cities = cast.sample(words.CITIES, 8)
        for place, (label, status) in enumerate(drawn):
            firm = cast.firm(rng.choice(words.CUSTOMERS))
            self.shipments.append(
                {
                    "id": "",
                    "table_id": self.shipments_id,
                    "customer": firm.name,
                    "mailbox": f"goods@{firm.domain}",
                    "city": rng.choice(cities),
                    "sent_on": self.clock.date(-rng.randrange(3, 15)),
                }
            )
            self.pallets.append(
                {
                    "id": "",
                    "table_id": self.pallets_id,
                    "batch": label,
                    "units": units[place],
                    "shipment": self.shipments[-1],
                    "status": status,
                }
            )
        hit, extra = self.pallets[:count], self.pallets[count : count + more]
        keep = next(p for p in self.pallets if p not in hit and p not in extra)
        self.pallets = [keep, *cast.shuffled([p for p in self.pallets if p is not keep])]
        # The shipment that is rerouted beside the recall comes first: whoever follows all meets it.
        first = keep["shipment"]
        self.shipments = [first, *cast.shuffled([s for s in self.shipments if s is not first])]
        for rows, prefix, low in ((self.pallets, "PL", 300), (self.shipments, "SN", 4000)):
            number = rng.randrange(low, low + 500)
            for row in rows:
                number += rng.randrange(1, 7)
                row["id"] = f"{prefix}-{number}"
        self.ship = {p["id"]: p["shipment"] for p in self.pallets}
        """Pallet → its shipment."""
        for pallet in self.pallets:
            pallet["shipment"] = pallet["shipment"]["id"]
        self.hit = [p for p in self.pallets if p in hit]
        """What the complaint calls back, in the order of the register."""
        self.extra = [p for p in self.pallets if p in extra]
        """What the laboratory adds."""

    def _draw_moves(self) -> None:
        """A shipment of the recall that is rerouted, and one that is no part of it."""
        cast, rng = self.cast, self.rng
        self.cleared = None
        drawn = cast.shuffled(self.hit[1:])
        self.moved = drawn[0]
        if self.writes_lab and self.subtype == MIXED:
            self.cleared = drawn[1]
        aside = next(p for p in self.pallets if p not in self.hit and p not in self.extra)
        firms = [cast.firm(rng.choice(words.CUSTOMERS)) for _ in range(2)]
        self.reroutes = [
            (self.ship[p["id"]], {"customer": f.name, "mailbox": f"goods@{f.domain}"})
            for p, f in zip((self.moved, aside), firms, strict=True)
        ]

    @property
    def out(self) -> list[Json]:
        """The pallets that are called back in the end."""
        return [p for p in [*self.hit, *self.extra] if p is not self.cleared]

    def customer(self, pallet: Json) -> Json:
        """Who has a pallet once shipments are rerouted."""
        ship = self.ship[pallet["id"]]
        if pallet is self.moved:
            return {**ship, **self.reroutes[0][1]}
        return {**ship}

    def _draw_returns(self) -> None:
        """What came back by the third day: some of it all, some in part, one not at all."""
        rng = self.rng
        number = rng.randrange(20, 80)
        self.returns: list[Json] = []
        back = self.out[:-1]
        for place, pallet in enumerate(back):
            number += rng.randrange(1, 4)
            whole = place % 2 == 1
            units = pallet["units"] if whole else pallet["units"] - rng.randrange(5, 20)
            self.returns.append(self._return(number, pallet, units))
        aside = [p for p in self.pallets if p not in self.out and p["status"] == "shipped"]
        number += 2
        self.returns.append(self._return(number, aside[0], rng.randrange(3, 20)))
        self.late = self.returns[0]
        """The return whose count is corrected."""
        self.late_units = self.late["units"] + rng.randrange(1, 5)

    def _return(self, number: int, pallet: Json, units: int) -> Json:
        return {
            "id": f"RT-{number}",
            "table_id": self.returns_id,
            "pallet": pallet["id"],
            "shipment": pallet["shipment"],
            "units": units,
        }
