"""Wordings of the family batch_recall: what is packed, who complains, how a recall is spoken of."""

from collections.abc import Mapping
from typing import Final

HOUSES: Final = (
    ("Preserves", "a maker of preserves", ("plum jam", "apple sauce", "cherry jam", "pickled beets")),
    ("Dairy", "a dairy", ("soft cheese", "salted butter", "yoghurt drink", "rice pudding")),
    ("Soaps", "a soap works", ("hand cream", "shower gel", "lavender soap", "lip balm")),
    ("Toys", "a toy maker", ("wooden trains", "stacking cups", "bath boats", "spinning tops")),
    ("Bakery", "a baker of crispbread", ("rye crisps", "oat biscuits", "ginger snaps", "seed crackers")),
    ("Teas", "a tea packer", ("mint tea", "fennel tea", "rosehip tea", "chai blend")),
    ("Lamps", "a lamp maker", ("desk lamps", "clip lamps", "night lights", "reading lamps")),
)  # fmt: skip
ROLES: Final = (
    ("quality manager", "quality assistant"), ("head of quality", "recall desk assistant"), ("plant manager", "quality clerk"),
    ("product safety lead", "product safety assistant"), ("head of supply", "supply assistant"), ("quality lead", "quality desk assistant"),
)  # fmt: skip
CUSTOMERS: Final = (
    "Market",
    "Foods",
    "Stores",
    "Corner",
    "Pharmacy",
    "Kiosks",
    "Canteens",
    "Wholesale",
    "Depot",
    "Hotels",
    "Shops",
    "Trading",
)
CITIES: Final = (
    "Aalborg",
    "Bergen",
    "Cork",
    "Dundee",
    "Faro",
    "Ghent",
    "Graz",
    "Kaunas",
    "Linz",
    "Nantes",
    "Odense",
    "Porto",
    "Siena",
    "Tampere",
    "York",
    "Zadar",
)
REGISTERS: Final[Mapping[str, str]] = {
    "Batches": "What was packed when, and on which line",
    "Pallets": "Which batch stands on which pallet, and where it went",
    "Shipments": "Who gets a shipment, as the carrier has it",
    "Returns": "What came back, as the warehouse counted it",
}
COMPLAINTS: Final = (
    "We found glass in the {product}. The label says {batch}.", "Two customers were hurt by the {product}, batch {batch}.", "The {product} smells of solvent; it is {batch}.",
    "There is metal in the {product} of batch {batch}.", "The {product} with the number {batch} is not as it should be, somebody was hurt.", "{batch}: pieces of plastic in the {product}.",
)  # fmt: skip
UNNUMBERED: Final = (
    "We found glass in the {product}. The number is smudged; it only says {line}, packed {day}.", "Two customers were hurt by the {product}. No number, but {line} and {day} are on the lid.",
    "The {product} smells of solvent. One can read {line} and the day, {day}.", "There is metal in the {product} of {line}, packed on {day}; the lot itself is not to be read.",
    "The {product} from {line} of {day} is not as it should be. The lot printed on it does not exist.", "Pieces of plastic in the {product}. The stamp: {line}, {day}, and a lot that was never packed.",
)  # fmt: skip
FINDINGS: Final = (
    "Batch {batch} shows the same. It has to come back too.", "We found it in {batch} as well.", "{batch} is not clean either, please call it back.", "The fault goes on in {batch}.",
    "Also affected: {batch}.", "Our samples of {batch} have the same fault.",
)  # fmt: skip
CLEARINGS: Final = (
    "We opened {pallet}: nothing of it on that pallet, it may be sold.", "{pallet} is clean, all samples of it.", "Pallet {pallet} can be released, we found nothing.",
    "Nothing was found on {pallet}; it is fine.", "{pallet} has passed every test.", "You can take {pallet} off: it is sound.",
)  # fmt: skip
LAB_NOTES: Final = (
    "Samples of {batch} arrived, we have not opened them.", "We will look at {batch} next week for the yearly check.", "Please send the empty boxes back; those of {batch} are here already.",
    "The fridge for samples is full, {batch} stands outside.", "Of {batch} we keep two boxes for the archive.", "{batch} was tested last month for its weight, no more than that.",
)  # fmt: skip
LAB_NEWS: Final = (
    "{lab} has a result for us, please take it up", "the laboratory wrote last night, {lab} says; do what follows", "there is a result of the laboratory in the mailbox, deal with it first",
    "{lab} sent a result, please work it in", "please see to the result that came from {lab}", "a result from {lab} is in, the rules say what follows",
)  # fmt: skip
STARTS: Final = (
    "we have a complaint about {product}", "bad news on our {product}, somebody complained", "something is wrong with the {product}, see the mail", "a complaint came in about {product}",
    "somebody wrote about {product}, and it is serious", "there is trouble with our {product}", "it is about the {product}: read the complaint", "a customer complains about {product}",
)  # fmt: skip
ASKS: Final = (
    "please trace what it concerns, block the pallets and start the log", "could you block every pallet that it concerns and enter them in the log", "would you find the pallets, block them and fill the recall log",
    "please do what the recall rules say for the first day: block and log", "can you stop the pallets in question and write the log", "please get the pallets blocked and the log begun, by our rules",
    "I need the pallets blocked and the recall log filled",
)  # fmt: skip
ENDS: Final = (
    "Then tell me how many units it is.", "I want the number of units tonight.", "How many units are they?", "Let me have the units in your reply.", "Reply with the units blocked.",
    "The units are what I will be asked for, send me those.",
)  # fmt: skip
BLOCKED: Final = (
    "{units} units are blocked.", "Blocked: {units} units.", "It is {units} units in all.", "All logged, {units} units.", "{units} units stand still.", "The log is begun, with {units} units.",
)  # fmt: skip
HELLOS: Final = ("Morning.", "Good morning.", "Hello again.", "Hi.", "", "Good day.", "Me again.")
WRITE_ASKS: Final = (
    "now every customer who has one of the pallets gets our letter, by mail", "please write to each customer who has one of these pallets", "the letters to the customers go out today, one for each pallet",
    "could you mail whoever holds one of the pallets", "would you send the customers their letters, pallet by pallet", "time to write to the customers of these pallets, please do",
)  # fmt: skip
LETTERS: Final = (
    "Please stop selling {product} from pallet {{pallet}} ({{units}} units) and send it back.", "We call back {{units}} units of {product}, pallet {{pallet}}.",
    "Pallet {{pallet}} with {{units}} units of {product} has to come back to us.", "Do not sell {product} of pallet {{pallet}}. We take all {{units}} units back.",
    "Recall: pallet {{pallet}}, {product}, {{units}} units. Please return them.", "We need {{units}} units of {product} back, they came on pallet {{pallet}}.",
)  # fmt: skip
REROUTED: Final = (
    "All letters are out; {ids} had been rerouted.", "Written. {ids} goes to another customer now.", "The customers know. Rerouted: {ids}.", "Letters sent; {ids} had changed hands.",
    "{ids} was rerouted, the log follows; all are told.", "Done, with {ids} at its new customer.",
)  # fmt: skip
COUNT_ASKS: Final = (
    "the first returns are counted: bring the log up to date and tell me what is still out", "please take the returns into the log; how many units are still out", "could you enter the returns in the log and tell me what is missing",
    "returns have come in, please take them off in the log and tell me the rest", "would you bring the log up to the returns and say what is left outside", "the warehouse has counted; update the log and give me what is out",
)  # fmt: skip
COUNTED: Final = (
    "{left} units are still out.", "Still out: {left}.", "We miss {left} units.", "The log is up to date, {left} are out.", "{left} to come.", "Outside there are {left}.",
)  # fmt: skip
REPORT_ASKS: Final = (
    "{officer} reports to the authority today and needs the units still out, by mail", "please mail {officer} how many units are still out", "could you send {officer} the number still out, by mail",
    "the authority wants the number still out from {officer}: mail it there please", "would you mail {officer} the units that are not back", "{officer} gets the number still out from you today, by mail",
)  # fmt: skip
REPORTS: Final = (
    "Dear {officer}, {{left}} units are still out.", "{officer}, of the recall {{left}} units are not back.", "Hello {officer}, still out: {{left}} units.", "{officer}, we wait for {{left}} units.",
    "As of today {{left}} units are with customers, {officer}.", "Dear {officer}, the number is {{left}}.",
)  # fmt: skip
REPORTED: Final = (
    "I reported {left}.", "Sent: {left} units.", "{left} it was when I wrote.", "The mail says {left}.", "Reported, {left} units.", "{left} units, mailed.",
)  # fmt: skip

RULES: Final[Mapping[str, str]] = {
    "one_batch": "A complaint that names a batch calls back every pallet of that batch: the pallet gets the status blocked.",
    "mixed_pallets": "A complaint that names a batch calls back every pallet on which some of that batch stands, alone or beside another: the whole pallet gets the status blocked.",
    "wrong_lot": "Where a lot cannot be read or does not exist, the line and the day of packing decide: every pallet of the batch of that product packed there on that day gets the status blocked.",
    "shipped": "Only pallets that are shipped are blocked; what is used stays as it is.",
    "log": "Each blocked pallet gets one line in the sheet Recall log: shipment, pallet, customer, units, and the state open.",
    "more": "When the laboratory finds a further batch affected, its pallets are blocked and logged in the same way, and their customers written to.",
    "cleared": "A pallet that the laboratory clears gets the status released, its line 0 units and the state released, and its customer no letter.",
    "again": "Before customers are written to, look at the table Shipments again on the same day: where a shipment has been rerouted, the line of the log names the customer who gets it now, and the letter goes there.",
    "letter": "A letter names the pallet and its units.",
    "once": "Nobody gets two letters.",
    "returns": "Of a line of the log, what the table Returns has for its shipment is taken off the units of the pallet: the line holds what is still out, and is closed at 0, open else.",
    "report": "What is reported is what is out on the day of the report: look at Returns again first.",
    "error": "What is answered with an error was not done; do it again.",
}
