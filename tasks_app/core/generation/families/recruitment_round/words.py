"""Wordings of the family recruitment_round: posts, letters, how a round is spoken of."""

from collections.abc import Mapping, Sequence
from typing import Final

STATES: Final = ("new", "shortlisted", "finalist", "interviewed", "declined", "withdrawn", "hired")
TITLES: Final[Mapping[str, str]] = {
    "shortlist": "the shortlist", "interview_panel": "interviews with a panel", "offer": "the offer",
}  # fmt: skip
HOUSES: Final = (
    ("Hospital", "a hospital"), ("Museum", "a museum"), ("Waterworks", "a water supplier"), ("Ferries", "a ferry line"),
    ("Library", "a town library"), ("Gardens", "a botanical garden"), ("Optics", "a maker of lenses"), ("Theatre", "a theatre"),
    ("Laboratory", "a testing laboratory"), ("Academy", "a school of crafts"), ("Railways", "a narrow-gauge railway"),
)  # fmt: skip
ROLES: Final = (
    ("head of people", "people assistant"), ("recruiter", "recruiting assistant"), ("people partner", "hiring assistant"),
    ("personnel manager", "personnel assistant"), ("head of recruiting", "recruiting clerk"), ("people lead", "people desk assistant"),
)  # fmt: skip
POSTS: Final = (
    ("night nurse", "head of nursing"), ("radiographer", "head of imaging"), ("conservator", "head of collections"),
    ("laboratory technician", "head of the laboratory"), ("signal engineer", "head of signalling"), ("payroll clerk", "head of payroll"),
    ("deck officer", "head of operations"), ("archivist", "head of archives"), ("welding instructor", "head of workshops"),
    ("stage electrician", "head of lighting"), ("pump fitter", "head of maintenance"), ("data steward", "head of records"),
)  # fmt: skip
MEETINGS: Final = (
    "Ward round",
    "Budget talk",
    "Supplier visit",
    "Team meeting",
    "Safety walk",
    "Call with the council",
    "Training",
)
SUDDEN: Final = (
    "Inspection",
    "Fire drill",
    "Doctor",
    "Site visit",
    "Call with the insurer",
    "Emergency planning",
)
OLD_MAIL: Final = (
    ("Badges", "New badges are at the front desk."), ("Canteen", "No warm meals on Thursday."), ("Advert", "The advert runs until the end of the week."),
    ("Rooms", "The small meeting room is being painted."), ("Thank you", "Thank you for the quick answer."), ("Forms", "The new forms are in the tray."),
)  # fmt: skip
WITHDRAWALS: Final = (
    "I have to withdraw my application as {post}. Thank you, {name}", "Please withdraw me from the round for the post of {post}. {name}",
    "I withdraw: another house was faster. Kind regards, {name}", "For family reasons I withdraw my application. {name}",
    "I am sorry, but I withdraw and wish you luck. {name}", "With regret I withdraw from the round. {name}",
)  # fmt: skip
QUESTIONS: Final = (
    "Where can I park on the day? I certainly do not want to withdraw. {name}", "Is there anything I should bring? My friends asked why I do not withdraw, but I will not. {name}",
    "May I ask when you decide? I will not withdraw whatever happens. {name}", "Is the canteen open to guests? And no, I did not withdraw, as somebody said. {name}",
    "How long will it take? I was told that many withdraw; I do not. {name}", "Could you confirm that you have my papers? I do not withdraw, of course. {name}",
)  # fmt: skip

STARTS: Final = (
    "we can go on with the {post}", "the time for applications as {post} is over", "on to the {post}", "the post of {post} needs filling",
    "hello, about the {post}", "good morning, the {post} round", "now the {post}", "today it is the {post}",
)  # fmt: skip
ASKS: Final[Mapping[str, Sequence[str]]] = {
    "shortlist": (
        "please go through the applications and shortlist whoever fits by our rules",
        "could you shortlist everybody who meets what we ask for, and nobody else",
        "would you set those who meet all requirements to shortlisted",
        "please do the shortlist as the rules have it",
        "can you work out who belongs on the shortlist and set them so",
        "I need the shortlist done in the table, by the book",
        "please sift the applications and shortlist those who qualify",
    ),
    "interview_panel": (
        "please book an interview on {day} between 9:00 and 17:00 for each finalist",
        "could you invite the finalists, one by one, to interviews on {day} between 9:00 and 17:00",
        "would you put the interviews of all finalists into the calendar, on {day} between 9:00 and 17:00",
        "every finalist needs an interview with the panel on {day}, between 9:00 and 17:00; please book them",
        "can you book the panel for each finalist on {day}, between 9:00 and 17:00",
        "please find slots for the finalists on {day} between 9:00 and 17:00 and book them",
        "the finalists are to be seen on {day} between 9:00 and 17:00, book that please",
    ),
    "offer": (
        "please draw up the offer for whoever gets it by our rules",
        "could you enter the offer as the rules say, as a draft for now",
        "would you work out who gets the offer and put the draft into the table",
        "please choose by the rules and enter the draft of the offer",
        "can you prepare the offer in the table, by the book",
        "I need the draft of the offer entered, for the right person",
        "please find out who is first and enter the offer as a draft",
    ),
}
ENDS: Final[Mapping[str, Sequence[str]]] = {
    "shortlist": (
        "Then tell me who is on it.", "Send me the numbers of those you set.", "I want to hear who is in.", "Reply with their numbers.",
        "Let me know the numbers tonight.", "Their numbers are all I need in your reply.",
    ),
    "interview_panel": (
        "Then tell me the times.", "Send me the times when they stand.", "I want to hear when.", "Reply with the times.", "Let me know the times tonight.",
        "The times are all I need in your reply.",
    ),
    "offer": (
        "Then tell me whom you chose.", "Send me the number of the application.", "I want to hear who it is.", "Reply with the number of the application.",
        "Let me know tonight who it is.", "The number of the application is all I need today.",
    ),
}  # fmt: skip
HELLOS: Final = ("Morning.", "Good morning.", "Hello again.", "Hi.", "", "Good day.", "Me again.")
NEWS: Final = (
    "somebody for the {post} withdrew last night, the letter is in the mailbox; please take it up", "there is a letter from one of ours for the {post} who steps back, deal with it first",
    "I hear that one of them for the {post} has stepped back, see the mailbox and do what the rules say", "one of the people for the {post} is out by letter, please enter that",
    "we have lost one for the {post}: read the letter and enter what follows", "a letter came overnight, we have one less for the {post}; please work it in",
)  # fmt: skip
SEND_LIST: Final = (
    "please mail {head} alone the shortlist with names and numbers", "then send {head} the list by mail, numbers and names", "{head} waits for the list, mail it please",
    "could you mail the shortlist to {head}, with numbers", "the list goes to {head} today, by mail", "would you write {head} who is on the list, with numbers",
)  # fmt: skip
LIST_LETTERS: Final = (
    "Dear {head}, the shortlist for the {post}:\n{{list}}", "{head}, these are on the list for the {post}:\n{{list}}", "Hello {head}, here is who fits as {post}:\n{{list}}",
    "{head}, for the {post} we have:\n{{list}}", "The list you wanted, {head} ({post}):\n{{list}}", "Dear {head}, as of today, {post}:\n{{list}}",
)  # fmt: skip
LISTED: Final = (
    "On the list: {ids}.", "I set {ids}.", "{ids} are shortlisted.", "Shortlisted: {ids}.", "These fit: {ids}.", "The list is {ids}.",
)  # fmt: skip
DROPPED: Final = (
    "The list is out; {ids} no longer fits and is declined.", "Sent. {ids} had to be declined.", "{ids} was declined, the rest went to the list.",
    "Declined since yesterday: {ids}. The list is sent.", "The list went out without {ids}, now declined.", "I declined {ids} and sent the list.",
)  # fmt: skip
BOOK_BEST: Final = (
    "now book the interview of the one on the list with the most years, on {day} between 9:00 and 17:00", "please book whoever on the list has the most years for {day}, between 9:00 and 17:00",
    "could you book the interview on {day} between 9:00 and 17:00 with the most experienced one on the list", "the one with the most years on the list comes first: book the interview on {day}, between 9:00 and 17:00",
    "would you put the interview with the longest-serving one of the list into the calendar, {day} between 9:00 and 17:00", "we begin with the one who has the most years; book that on {day} between 9:00 and 17:00",
)  # fmt: skip
BOOKED: Final = (
    "It is at {time}.", "Booked for {time}.", "The interview is at {time}.", "{time} it is.", "The panel meets at {time}.", "I booked {time}.",
)  # fmt: skip
TELL_TIME: Final = (
    "please write the candidate when the interview is, day and time", "the candidate should hear day and time of the interview by mail today", "could you mail the candidate day and time of the interview",
    "time to tell the candidate: day and time of the interview, by mail", "would you let the candidate know the day and time by mail", "send the candidate the day and the time of the interview, please",
)  # fmt: skip
TIME_LETTERS: Final = (
    "Your interview is on {day} at {time}.", "We expect you on {day} at {time}.", "Please come on {day} at {time}.", "We look forward to seeing you on {day}, {time}.",
    "The panel sees you on {day} at {time}.", "Day and time of your interview: {day}, {time}.",
)  # fmt: skip
TOLD_TIME: Final = (
    "The candidate knows: {time}.", "Written: {time}.", "I wrote that it is at {time}.", "It is at {time}, the letter is out.", "The letter says {time}.", "Told: {time}.",
)  # fmt: skip
ALL_BOOKED: Final = (
    "Booked: {times}.", "The interviews are at {times}.", "All booked, at {times}.", "Times: {times}.", "They come at {times}.", "In the calendar at {times}.",
)  # fmt: skip
TELL_CHANGES: Final = (
    "please see whether every interview can still take place, and mail whoever has to come at another time the day and time", "the interviews should go out today: whoever's time has to change gets day and time by mail",
    "could you go over the interviews once more and write anybody whose time changes, with day and time", "the candidates will want to plan: check the interviews, and mail whoever moves day and time",
    "would you make sure that the panel can hold every interview, and mail the new day and time where one moves", "please check the panel for the interviews again and mail day and time to whoever is moved",
)  # fmt: skip
CHECK_AGAIN: Final = (
    "one more look at the interviews, please: whoever has to be moved again gets day and time by mail", "please check the panel a last time and write whoever is moved, day and time",
    "could you go over the interviews again today, and mail day and time to anybody who moves", "last check of the interviews: move what cannot stay and mail day and time",
    "would you see once more whether all interviews stand, and write whoever moves the day and time", "before the interviews begin: check the panel again, and mail day and time where one moves",
)  # fmt: skip
MOVED: Final = (
    "Moved to {time}, the candidate knows.", "One had to move: {time}.", "It is at {time} now.", "The new time is {time}.", "I moved one to {time} and wrote.", "Now at {time}.",
)  # fmt: skip
DRAWN_UP: Final = (
    "The draft is for {number}.", "Drawn up for {number}.", "{number} comes first, the draft is in.", "It is {number}.", "The offer goes to {number}, as a draft.", "Draft entered: {number}.",
)  # fmt: skip
SEND_OFFER: Final = (
    "please send the offer by mail and set it to sent", "then the offer may go out: mail it and set it to sent", "could you mail the offer now and mark it as sent",
    "the offer goes out today, by mail; set it to sent", "would you write the candidate our offer and set it to sent", "send the offer by mail, please, and set its status to sent",
)  # fmt: skip
OFFER_LETTERS: Final = (
    "Dear {{name}}, we offer you the post of {post} at {{pay}} EUR a month.", "{{name}}, we would like to have you as {post}; the post pays {{pay}} EUR a month.",
    "Dear {{name}}, our offer as {post}: {{pay}} EUR a month.", "Welcome, {{name}}: the post of {post}, {{pay}} EUR a month.",
    "Dear {{name}}, you were first for the {post}. We pay {{pay}} EUR a month.", "{{name}}, will you be our {post}, for {{pay}} EUR a month?",
)  # fmt: skip
OFFER_SENT: Final = (
    "Sent to {number}, {pay} EUR.", "{number} has the offer of {pay} EUR.", "The offer is out: {number}, {pay} EUR.", "{pay} EUR went to {number}.",
    "It went to {number} with {pay} EUR.", "Offer sent, {number} at {pay} EUR.",
)  # fmt: skip
CLOSE_ROUND: Final = (
    "{name} has accepted on the telephone: set the application to hired and decline whoever else was interviewed", "{name} said yes, so please close the round: hired, and the other interviewed ones declined",
    "good news, {name} accepts. Set that to hired, and decline the others we interviewed", "{name} takes the post. Please set hired, and all others we have interviewed to declined",
    "we have a yes from {name}: hired, please, and declined for the rest of the interviewed", "{name} starts with us; set hired and decline everybody else who was interviewed",
)  # fmt: skip
ROUND_CLOSED: Final = (
    "Declined: {ids}.", "The round is closed, {ids} are declined.", "{ids} were declined.", "I declined {ids}.", "All done; declined are {ids}.", "Closed. Declined: {ids}.",
)  # fmt: skip

RULES: Final[Mapping[str, str]] = {
    "shortlist": "Shortlist whoever applied as {post}, is new, holds the certificate, has at least {need} years and is available from {start} or earlier: status shortlisted. All others stay as they are.",
    "withdrawn": "Whoever writes to withdraw gets the status withdrawn; a question changes nothing.",
    "again": "Before a list is sent, look at the applications again on the same day: whoever on it no longer meets a requirement gets the status declined and is not on it.",
    "house": "A list of applicants goes to addresses of the house only.",
    "interview": "An interview takes {minutes} minutes, with {head}, {second} and the candidate, in the earliest slot of the window that is free for both of the house, at a full quarter of an hour.",
    "once": "Each candidate gets one invitation.",
    "move": "When somebody of the panel is no longer free, move the interview to the earliest slot of the same window that is.",
    "finalists": "Finalists of the post of {post} are seen in the order of their numbers.",
    "cancel": "Their interview is cancelled, and its slot is free again.",
    "look": "Before a candidate is told a time, look at the calendar again on the same day.",
    "offer": "The offer for the {post} goes to whoever was interviewed for it, expects no more than the table Pay says for the post, and of these has the highest score. It is one row of the table Offers: the post, the number of the application, the pay of the table, and the status draft until it is sent.",
    "as_of": "What counts is how the tables stand on the day on which the offer is sent: the row follows them, candidate and pay, before the letter goes.",
    "one": "There is one row for an offer: change it rather than add a second.",
    "pay_again": "Before an offer is sent, look at the table Pay again on the same day.",
    "gone": "Only who has the status interviewed is declined at the end; whoever withdrew stays withdrawn.",
    "secret": "What candidates expect to earn is for {lead} and {head} alone.",
    "error": "A change that is answered with an error was not made; make it again.",
}
