"""Names and wordings of the pocket families: 48 people, 24 suppliers, at least 512 wordings a family.

A quarter of the names is kept apart: a draft takes all its names from one of the two pools, so that tasks
whose names no demonstration contains can be told by their tag.
"""

from collections.abc import Mapping, Sequence
from typing import Final

PEOPLE: Final = (
    "Aino Brandvik", "Amara Quist", "Anouk Rosen", "Bastian Wexford", "Beatriz Mbeki", "Celeste Norrby",
    "Dagny Lorimer", "Darius Yamato", "Edda Solheim", "Emeka Haldane", "Fenna Kowalik", "Florian Ystad",
    "Freya Delacroix", "Gideon Amadi", "Greta Vosloo", "Halvor Stavros", "Hana Merriweather", "Idris Falkenrath",
    "Ilse Sandoval", "Imre Whitlock", "Ines Garrick", "Isolde Tamsin", "Ivo Kaminski", "Joana Eikeland",
    "Jonas Adeyemo", "Kadri Penhallow", "Kaveh Lindqvist", "Keiko Marchetti", "Lazlo Ferreira", "Leila Thorvald",
    "Linnea Okonkwo", "Lucian Dorrance", "Maren Zielinski", "Mateus Arkwright", "Mila Oosterling", "Nadia Castellan",
    "Naoki Balogun", "Nerys Jankovic", "Niamh Rietveld", "Odile Underwood", "Oskar Ghorbani", "Paloma Skarsgard",
    "Rasmus Bellweather", "Rhea Montrose", "Samir Lockhart", "Selma Harrowgate", "Tarek Pellegrin", "Vera Nakagawa",
)  # fmt: skip
HELD_PEOPLE: Final = 12
"""The last twelve are kept apart."""

SUPPLIERS: Final = (
    "Alderbrook Paper", "Ambergate Tools", "Birchwick Glass", "Brambleford Print", "Cinderholt Steel",
    "Cloverdale Seeds", "Coppermere Wire", "Dapplestone Tiles", "Emberlea Candles", "Fernwater Soap",
    "Flinthurst Locks", "Gorsefield Honey", "Hazelmarch Timber", "Heronshore Nets", "Juniperwood Oils",
    "Larchside Chairs", "Lichenridge Stone", "Meadowstead Wool", "Nettlecroft Tea", "Otterford Rope",
    "Pebblewick Salt", "Rowanhaven Bread", "Sedgeworth Rugs", "Thistledale Ink",
)  # fmt: skip
HELD_SUPPLIERS: Final = 6

GREETINGS: Final = (
    "Hi,",
    "Hello,",
    "Morning.",
    "Good day,",
    "Hey,",
    "Quick one:",
    "One more:",
    "Next:",
)
CLOSINGS: Final = (
    "Thanks.",
    "Thank you.",
    "Cheers.",
    "Much obliged.",
    "Best.",
    "Many thanks.",
    "Ta.",
    "Yours.",
)

REQUESTS: Final[Mapping[str, tuple[Sequence[str], Sequence[str]]]] = {
    "refund_or_decline": (
        (
            "{who} wants the money back for an order",
            "{who} asks for a refund",
            "{who} would like to be refunded",
            "there is a refund request from {who}",
            "{who} wrote and wants a refund",
            "{who} is asking for money back",
            "a refund is what {who} wants",
            "{who} hopes for a refund on an order",
        ),
        (
            "please look the order up, decide by our rule and tell me",
            "please check the order and settle it by our rule",
            "look at the order, follow the rule and report",
            "please decide it by the rule and let me know",
            "check the order first, then act by the rule",
            "please handle it as our rule says and answer me",
            "do what the rule asks once you have seen the order",
            "settle it by the rule and give me the result",
        ),
    ),
    "payment_change": (
        (
            "{who} mailed us an invoice with an account number",
            "a bill came by mail from {who}",
            "there is a mail from {who} with an invoice",
            "{who} sent an invoice by mail",
            "we have a bill of {who} in the mailbox",
            "an invoice of {who} arrived by mail",
            "{who} wrote and wants a bill paid",
            "the mailbox has an invoice from {who}",
        ),
        (
            "please compare the account and hold or approve it by our rule",
            "check the account on file, then approve or hold the invoice",
            "compare the number first and act by the rule",
            "please see whether the account is right and follow the rule",
            "look at the account, then decide by our rule",
            "please verify the number and do what the rule says",
            "compare, decide by the rule and report to me",
            "follow the rule for account numbers and tell me",
        ),
    ),
    "reschedule": (
        (
            "{who} cannot make the meeting",
            "the meeting with {who} has to move",
            "{who} needs another time for our meeting",
            "please move the meeting with {who}",
            "{who} asked for a later slot",
            "we must shift the meeting with {who}",
            "{who} is away at the time of the meeting",
            "something came up, {who} needs a new slot",
        ),
        (
            "take the first free slot in the {part} of the same day and tell me when",
            "find the first slot free in the {part} that day and confirm it",
            "use the earliest free slot in the {part} of that day, then report",
            "the first free one in the {part} of the day is fine, let me know",
            "put it into the first free {part} slot of that day and answer me",
            "any {part} that day, the first free slot; tell me the new time",
            "look for the first free {part} slot on the day and move it there",
            "the {part} of the same day, first free slot, then a short note",
        ),
    ),
    "ticket_triage": (
        (
            "{who} has a ticket that nobody works on",
            "the ticket of {who} needs an owner",
            "please find an owner for the ticket of {who}",
            "nobody has taken the ticket of {who}",
            "{who} waits for somebody to take the ticket",
            "there is an unassigned ticket of {who}",
            "the matter of {who} lies in the open queue",
            "{who} asked twice, the ticket has no owner",
        ),
        (
            "take the {severity} one and give it to whoever is on call for its area",
            "it is the {severity} one; assign it to the person on call for the area",
            "find the {severity} one and hand it to the on-call person of its area",
            "the {severity} one, please, to the one on call in that area",
            "pick the {severity} one, see its area and assign the person on call",
            "assign the {severity} one to the on-call person and tell me who",
            "the {severity} one goes to whoever is on call for it, tell me the name",
            "look at the {severity} one and give it to the on-call person",
        ),
    ),
}
