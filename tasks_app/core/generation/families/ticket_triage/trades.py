"""What the houses of ticket_triage sell to firms, and what goes wrong with it."""

from collections.abc import Sequence
from typing import Final, NamedTuple


class Area(NamedTuple):
    """A part of what a house sells: its key in tickets, how people call it, what goes wrong."""

    key: str
    spoken: str
    symptoms: Sequence[str]


class Trade(NamedTuple):
    """What a house sells to firms."""

    suffix: str
    kind: str
    areas: Sequence[Area]
    customers: Sequence[str]
    """Second words of the names of firms that buy it."""


OFFICES: Final = (
    "Bakery", "Logistics", "Dental", "Printworks", "Motors", "Foods", "Optics", "Joinery",
    "Freight", "Gardens", "Brewery", "Textiles", "Roofing", "Pharmacy", "Ceramics", "Ferries",
    "Cycles", "Dairy", "Glassworks", "Catering",
)  # fmt: skip

TRADES: Final = (
    Trade(
        "Hosting",
        "a web host for small firms",
        (
            Area(
                "mail_delivery",
                "mail delivery",
                (
                    "Messages arrive hours late",
                    "Mails to our bank bounce",
                    "The out-of-office reply goes round in circles",
                    "Attachments vanish on the way",
                ),
            ),
            Area(
                "backups",
                "the backups",
                (
                    "Last night's backup is empty",
                    "A restore stops half way",
                    "The backup report has not come",
                    "The backup volume is full",
                ),
            ),
            Area(
                "domains",
                "the domains",
                (
                    "Our address leads to a parking page",
                    "The transfer code is refused",
                    "The certificate has run out",
                    "The subdomain is unknown",
                ),
            ),
            Area(
                "web_space",
                "the web space",
                (
                    "Pages load for a minute",
                    "The upload stops at half",
                    "The shop shows a white page",
                    "Pictures are missing",
                ),
            ),
            Area(
                "console",
                "the console",
                (
                    "The console hangs at the second step",
                    "Nobody can add a user",
                    "The usage chart is blank",
                    "Buttons do nothing",
                ),
            ),
        ),
        OFFICES,
    ),
    Trade(
        "Payroll",
        "a payroll bureau",
        (
            Area(
                "payslips",
                "the payslips",
                (
                    "Two payslips have the wrong month",
                    "Payslips cannot be opened",
                    "The overtime line is missing",
                    "A payslip went to the old address",
                ),
            ),
            Area(
                "leave",
                "the leave balances",
                (
                    "Leave days were counted twice",
                    "The leave balance is negative",
                    "Half days cannot be entered",
                    "A leave request is stuck",
                ),
            ),
            Area(
                "bank_file",
                "the bank file",
                (
                    "The bank refuses the file",
                    "The bank file has an empty line",
                    "The file names last month",
                    "The sum of the file differs by a few coins",
                ),
            ),
            Area(
                "tax_forms",
                "the tax forms",
                (
                    "The yearly form lacks a page",
                    "A tax class is out of date",
                    "The form cannot be signed",
                    "The form prints askew",
                ),
            ),
            Area(
                "time_clock",
                "the time clock",
                (
                    "The clock by the gate shows no badge",
                    "Breaks are not deducted",
                    "Clock times arrive a day late",
                    "The night shift is cut at midnight",
                ),
            ),
        ),
        OFFICES,
    ),
    Trade(
        "Telematics",
        "a maker of fleet trackers",
        (
            Area(
                "trackers",
                "the trackers",
                (
                    "Three vans have been invisible since dawn",
                    "A tracker reports from the sea",
                    "The new tracker does not pair",
                    "Trackers fall asleep in the tunnel",
                ),
            ),
            Area(
                "live_map",
                "the live map",
                (
                    "The map is grey",
                    "The map shows yesterday",
                    "Vehicles jump about on the map",
                    "The map does not load on tablets",
                ),
            ),
            Area(
                "fuel_cards",
                "the fuel cards",
                (
                    "A fuel card is refused abroad",
                    "Fuel is booked to the wrong truck",
                    "The card limit is gone",
                    "Receipts are not matched",
                ),
            ),
            Area(
                "trip_reports",
                "the trip reports",
                (
                    "The weekly report is empty",
                    "Private trips show in the report",
                    "The report counts kilometres twice",
                    "The report goes to a former colleague",
                ),
            ),
            Area(
                "driver_app",
                "the driver app",
                (
                    "The app closes by itself",
                    "Drivers cannot start a trip",
                    "The app wants an update that is not there",
                    "Photos are not sent",
                ),
            ),
        ),
        (
            "Logistics",
            "Freight",
            "Couriers",
            "Movers",
            "Coaches",
            "Roofing",
            "Catering",
            "Milk Rounds",
            "Waste Services",
            "Plumbing",
            "Taxis",
            "Ferries",
        ),
    ),
    Trade(
        "Tills",
        "a maker of till systems",
        (
            Area(
                "card_reader",
                "the card readers",
                (
                    "The reader says no connection",
                    "Cards must be held twice",
                    "The reader restarts at noon",
                    "Tips cannot be entered",
                ),
            ),
            Area(
                "receipts",
                "the receipts",
                (
                    "Receipts come out blank",
                    "The logo prints as stripes",
                    "The tax line is missing",
                    "The second copy never prints",
                ),
            ),
            Area(
                "stock_sync",
                "the stock transfer",
                (
                    "Stock is a day behind",
                    "Sold-out goods can be sold",
                    "Returns do not raise the stock",
                    "The transfer stops at article five hundred",
                ),
            ),
            Area(
                "day_close",
                "the day's closing",
                (
                    "The closing does not end",
                    "The closing sum is zero",
                    "Two tills close into one",
                    "The closing asks for a code",
                ),
            ),
            Area(
                "price_labels",
                "the price labels",
                (
                    "Labels show old prices",
                    "The label printer feeds two at once",
                    "Sale prices do not start",
                    "Labels lack the unit price",
                ),
            ),
        ),
        (
            "Bakery",
            "Pharmacy",
            "Optics",
            "Bookshop",
            "Gardens",
            "Cycles",
            "Butchery",
            "Shoes",
            "Tea House",
            "Toys",
            "Farm Shop",
            "Hardware",
        ),
    ),
    Trade(
        "Learning",
        "a platform for schools",
        (
            Area(
                "timetables",
                "the timetables",
                (
                    "The timetable of form seven is empty",
                    "Rooms are booked twice",
                    "Substitutions do not show",
                    "The timetable changes by itself",
                ),
            ),
            Area(
                "gradebook",
                "the gradebook",
                (
                    "Grades cannot be saved",
                    "Averages are wrong",
                    "A class is missing in the gradebook",
                    "The export is garbled",
                ),
            ),
            Area(
                "video_rooms",
                "the video rooms",
                (
                    "Nobody hears the teacher",
                    "The room closes after ten minutes",
                    "Pupils wait in the lobby",
                    "Shared screens are black",
                ),
            ),
            Area(
                "parents_app",
                "the parents' app",
                (
                    "Parents get no messages",
                    "The app shows another child",
                    "Sick notes are not passed on",
                    "The app logs parents out",
                ),
            ),
            Area(
                "library",
                "the library desk",
                (
                    "Books cannot be returned",
                    "Fines are charged twice",
                    "The catalogue finds nothing",
                    "Scanners beep and do nothing",
                ),
            ),
        ),
        (
            "Grammar School",
            "College",
            "Primary School",
            "Academy",
            "Music School",
            "Evening School",
            "Language School",
            "Sports School",
            "School of Design",
        ),
    ),
    Trade(
        "Labels",
        "a supplier of laboratory software",
        (
            Area(
                "sample_queue",
                "the sample queue",
                (
                    "Samples stay in the queue",
                    "Samples are listed twice",
                    "The queue order is lost",
                    "Urgent samples end up last",
                ),
            ),
            Area(
                "instrument_link",
                "the instrument link",
                (
                    "The centrifuge is not seen",
                    "Values come without units",
                    "The link drops every hour",
                    "The new scale does not connect",
                ),
            ),
            Area(
                "result_letters",
                "the result letters",
                (
                    "Letters lack the second page",
                    "Letters go out unsigned",
                    "The reference range is missing",
                    "A letter shows an old result",
                ),
            ),
            Area(
                "courier_plan",
                "the courier plan",
                (
                    "The plan lists a closed practice",
                    "Pick-up times are an hour off",
                    "The plan cannot be printed",
                    "Two couriers have the same tour",
                ),
            ),
            Area(
                "stock_room",
                "the stock room",
                (
                    "Reagents show as expired",
                    "The order list is empty",
                    "Lot numbers are cut off",
                    "The stock is negative",
                ),
            ),
        ),
        (
            "Laboratory",
            "Diagnostics",
            "Clinic",
            "Pathology",
            "Veterinary Clinic",
            "Water Works",
            "Dairy Laboratory",
            "Food Testing",
            "Soil Testing",
            "Institute",
        ),
    ),
)

SECURITY: Final = Area(
    "security",
    "security",
    (
        "Somebody signed in as our manager at night",
        "We got a mail that asks for our password in your name",
        "A former employee still has access",
        "There are sign-ins from a country where we have nobody",
        "Our users were changed and it was none of us",
    ),
)
