"""English of the web application in one place, as far as Python says it.

Templates hold their own words; those of scripts are in ``static/words.js``. Sentences with a name in braces are filled by ``str.format``.
"""

from __future__ import annotations

from collections.abc import Mapping

# Names of screens, in the order of the work.

SCREENS: Mapping[str, str] = {
    "open": "Open",
    "attacker": "Attacker",
    "make": "Make",
    "verdict": "Verdict",
    "repair": "Repair",
    "register": "Register",
    "take": "Take away",
}

# Settings of a project, with a label and a hint each.

SETTINGS: Mapping[str, tuple[str, str]] = {
    "n": ("Number of people", "If the file does not say how many people it is about; of several releases, of each"),
    "qi": ("Columns others may know", "Quasi-identifiers, separated by commas"),
    "sa": ("Sensitive columns", "Separated by commas; none if nothing is sensitive"),
    "form": ("Kind of file", "If it was not recognised as what it is"),
    "by": (
        "Columns of a crosstab",
        "Down, then across, separated by commas; FILE=COLUMNS for one of several files, with semicolons between",
    ),
    "missing": ("Missing mark", "What an unknown value looks like, for instance ?"),
    "convention": ("Publisher's convention", "How a frequency table was rounded or redacted"),
    "complete": ("Completeness", "Whether everything that reaches the threshold is listed"),
    "rows": ("Rows to protect", "Of a table with blank cells: a condition such as job=Sales and age<30"),
    "people": ("People of several releases", "How the populations are related"),
    "k": ("Smallest group (k)", "Groups of fewer people are findings; 10 if empty"),
    "l": ("Sensitive values left (l)", "How many must remain possible for everybody; 2 if empty"),
    "max-posterior": ("Highest probability", "Of a sensitive value, between 0 and 1; no limit if empty"),
}

# Roles of files and of columns.

ROLES: Mapping[str, str] = {
    "release": "a release to audit",
    "earlier": "a release published earlier",
    "data": "the data behind the release",
    "known": "people that the attacker knows",
    "knowledge": "facts that the attacker knows",
    "unused": "not used",
}
COLUMN_ROLES: Mapping[str, str] = {
    "": "other",
    "known": "known to others",
    "sensitive": "sensitive",
    "identifying": "identifying",
    "person": "person column",
}
KINDS: Mapping[str, tuple[str, str]] = {
    "itemsets": ("a list of {lines} itemsets", "lists of itemsets"),
    "rules": ("a list of {lines} rules", "lists of rules"),
    "frequencies": ("a frequency table of {lines} cells", "frequency tables"),
    "buckets": ("a bucketized table of {n} people", "bucketized tables"),
    "table": ("a table of {lines} rows with blank cells", "tables with blank cells"),
}
OTHER_KIND = "a release of {lines} lines"
DATA_TABLE = "a table of people with {columns} columns"
DATA_BASKETS = "a list of baskets with {items} items"
PEOPLE_CHOICES: Mapping[str, str] = {
    "": "as their numbers say",
    "same": "the same people",
    "nested": "each within the one before",
    "moved": "some left or joined",
    "unknown": "not known",
}
CONVENTIONS: Mapping[str, str] = {
    "": "as they are",
    "opensafely": "by OpenSAFELY (7 or fewer redacted, then rounded to 5)",
    "opensafely-midpoint6": "by OpenSAFELY's midpoint 6",
    "nomis": "by Nomis (rounded to 5)",
    "acro": "by ACRO (cells redacted)",
    "omop": "by OMOP (fewer than 5 hidden)",
    "rr3": "by random rounding to 3",
}
COMPLETE: Mapping[str, str] = {
    "": "as its header says",
    "yes": "complete, so what is missing is rare",
    "no": "a selection, so nothing follows from what is missing",
}
COMPLETE_AS_SAID = "complete where its header says so"
AS_RECOGNISED = "as recognised"

# Examples.

EXAMPLES: Mapping[str, tuple[str, str, str]] = {
    "itemsets": ("Itemsets of a clinic", "Four lines about 70 patients reveal one of them.", "Clinic"),
    "rules": ("Rules with their data", "Twelve rules about 240 patients; what a neighbour can conclude.", "Patients"),
    "years": ("Two years of a table", "Each table is clean, together they show who left.", "Smokers, 2024 and 2025"),
}

# Questions of the page Open: at most one is asked.

FILES_TO_ADD = "{names} is not here any more. Add it again: the copies of a browser's files are removed when the server stops."
ASK_PUBLISH = "{file} has one row per person. What will be published?"
ASK_ROLES = "{file} has one row per person. Which columns may others know, and which is sensitive?"
ASK_KIND = "{file} was not recognised as a release. What is it?"
ASK_SENSITIVE = "Is one of these columns sensitive, so that nobody's value may be inferred?"
ASK_N = "How many people is {file} about?"
ASK_PEOPLE = "How are the people of these releases related?"

# Attackers.

ATTACKERS: Mapping[str, tuple[str, str]] = {
    "release": ("Any reader", "Has the release and nothing else. The least that you must withstand."),
    "neighbour": (
        "A neighbour or colleague",
        "Also knows everybody's quasi-identifiers, such as age, sex and job, and asks what the release says about each of them.",
    ),
    "earlier": (
        "A reader with last year's release",
        "Has both releases, and subtracts one from the other.",
    ),
}

# Making releases: verbs with a title and a sentence, and their options with a label and a hint.

MAKES: Mapping[str, tuple[str, str]] = {
    "itemsets": ("Itemsets", "Combinations of values that many people share, with their counts."),
    "rules": ("Rules", "If these values, then this sensitive value: with confidences."),
    "tabulate": ("Frequency table", "Counts of people by columns; small cells hidden or counts rounded."),
    "bucketize": ("Bucketized table", "Everybody's quasi-identifiers in groups, sensitive values apart."),
    "hide": ("Table with blanks", "The table itself; cells are hidden until no rule reveals the sensitive ones."),
}
MAKE_OPTIONS: Mapping[str, tuple[str, str]] = {
    "min-support": ("Support threshold", "A share such as 5%, or a number of people"),
    "only": ("Which itemsets", "All, or fewer that say the same"),
    "max-length": ("Longest", "Most items of a line; any number if empty"),
    "min-confidence": ("Confidence threshold", "A share of the people with the antecedent"),
    "digits": ("Decimals of supports", "Instead of counts; counts if empty"),
    "withhold-values": ("Leave out numbers", "Publish which rules reach the thresholds only"),
    "by": ("Columns of the table", "Separated by commas; semicolons between several tables"),
    "ways": ("Ways", "All tables over one to this many of the columns; one table if empty"),
    "total": ("Totals", "Also list the totals of every table"),
    "hide-below": ("Hide cells below", "Cells with fewer people are hidden; none if empty"),
    "round": ("Round to", "Multiples of this number; not rounded if empty"),
    "l": ("Sensitive values in a group (l)", "How many must remain possible for everybody"),
    "method": ("Method", "How cells or groups are chosen"),
    "suppress": ("Leave people out", "Those who fit into no such group, instead of giving up"),
    "rows": ("Rows to protect", "A condition such as job=Sales and age<30"),
    "may-hide": ("Where cells may be hidden", "The choice that hides fewest, if empty"),
    "qi": ("Columns others may know", "Separated by commas"),
    "sa": ("Sensitive column", "Separated by commas"),
    "missing": ("Missing mark", "What an unknown value looks like"),
    "missing-rule": ("Missing values", "A value like others, or rows left out"),
    "person": ("Person column", "Whose row it is, if people have several"),
}
NO_DATA = "the project has no data yet"
ADD_DATA = "Add a file with one row per person on the page Open"
NOT_MADE = "this has not been made yet"
MAKE_FIRST = "Make it first"

# Registers.

NO_SUCH_REGISTER = "there is no such register"
REGISTER_NAME = "Use letters, digits and hyphens, at most 60"
NOT_APPROVED = "the release has not been approved as it is now"
APPROVE_FIRST = "Approve it on the page Take away"
NO_POPULATION = "the people that the release is about have no name"
NAME_POPULATION = "Name them, for instance 2025"
EMPTY_REGISTER = "nothing has been published yet"
ADD_FIRST = "Add a release first"

# Waivers.

WAIVER_NEEDS_WHAT = "what is accepted is missing"
WAIVER_NAMES = "Name a finding, items or columns"
WAIVER_NEEDS_PEOPLE = "the number of people is missing"
WAIVER_NUMBERS = "Write for instance 1, or 3-9"
WAIVER_NEEDS_REASON = "a waiver needs a reason and a name"
FILL_IN = "Fill in both fields"
WAIVER_NEEDS_DATE = "the last day is not a date"
WAIVER_DATE = "Write for instance 2027-12-31"
TOO_MANY_WAIVERS = "there are too many waivers"
FEWER_WAIVERS = "Use patterns"
NO_SUCH_WAIVER = "there is no such waiver"

# Short states.

PROJECTS = "Projects"
UNTITLED = "Untitled"
NO_RELEASE = "No release yet."
NOT_AUDITED = "Not audited yet."

# Refusals: what is wrong and what to do, apart where the program joins them.

PROJECT_IS_GONE = "This project is gone. Start from the list of projects."
PAGE_IS_GONE = "There is no such page."
FILE_IS_GONE = "This file is gone."
NO_SUCH_FILE = "There is no such file."
ANSWER_IS_GONE = "This file is gone. Run the command again."
NEVER_RUN = "This command was never run."
NOTHING_TO_RUN = "There is nothing to run here."
FILES_ARE_GONE = "{names}: not here any more. Add the file again on the page Open."
FILE_IS_NOT_WHOLE = "The file did not arrive whole. Send it again."

DISK_IS_FULL = "The disk is full, so nothing was changed. Free some space and try again."
NOT_WRITTEN = "This could not be written ({reason}), so nothing was changed."

NOT_AN_OBJECT = "is not a JSON object"
RELOAD = "Reload the page"
NO_SUCH_SETTING = "there is no such setting"
NO_SUCH_CHOICE = "there is no such choice"
CHOOSE = "Choose one of the list"
NO_RELEASE_CHOSEN = "no file is a release yet"
ADD_RELEASE = "Add one, or give a file the role of a release"
TWO_OF_A_ROLE = "two files have the role {role}"
ANOTHER_ROLE = "Give one of them another role"
NO_SUCH_ROLE = "there is no such role"
ROLES_ARE = "Choose one of {roles}"
TOO_MANY_FILES = "a project has at most {most} files"
FEWER_FILES = "Remove some, or give a folder"
FOLDER_TOO_LARGE = "a folder has at most {most} files, four levels deep"
SMALLER_FOLDER = "Leave out what is not a release"
NO_USABLE_NAME = "the file has no usable name"
RENAME = "Rename it"
FOLDER_FAILED = "the folder of projects cannot be made ({reason})"
OTHER_FOLDER = "Name another folder with the variable XDG_STATE_HOME"
OUTSIDE = "a setting names a file outside the project"
NAME_A_FILE = "Add the file on the page Open, and write its name only"
NOT_TRIED = "the repairs have not been tried"
TRY_FIRST = "Try them first"
NO_SUCH_REPAIR = "there is no such repair"
NO_SUCH_LINE = "there is no such line"
DECISION_NEEDS_NAME = "a decision needs the name of the person who takes it"
GIVE_NAME = "Fill in the field By"
PORT_FAILED = "cannot be used ({reason})"
OTHER_PORT = "Choose another one, or leave the option out"

# States of commands.

INTERRUPTED = "The server ended while this ran. Run it again."
TOO_MANY_WAIT = "Too many commands are waiting. Cancel some, or wait."
CANCELLED = "Cancelled. Run it again if you need it."
NOT_STARTED = "The command could not be started ({reason})."
ENDED_BY_SYSTEM = "The command was ended by the system (signal {signal}), perhaps for lack of memory. Run it again."
NO_ANSWER = "The command gave no answer. Run it again."

LIVE = "sliders"
LIVE_IS_SLOW = "the answer took too long"
LIVE_ENDED = "the process was ended by the system, perhaps for lack of memory"
SUPERSEDED = "A later question was asked."
MOVE_AGAIN = "Move the slider again"

# Sliders: the label of each, and what its steps are.

SLIDERS: Mapping[str, tuple[str, str]] = {
    "k": ("Smallest group k", "Groups of fewer people are findings"),
    "l": ("Values left l", "How many sensitive values must stay possible for everybody"),
    "min-support": ("Publish from", "people on; what fewer people have is left out"),
    "base": ("Round counts to", "the nearest multiple"),
    "decimals": ("Print supports with", "decimals instead of counts"),
    "cell-base": ("Round cells to", "multiples that still add up to their totals"),
}
#: Curves of changes: a name, what the axis says, and a sentence.
CURVES: Mapping[str, tuple[str, str, str]] = {
    "min-support": (
        "Findings by threshold",
        "support threshold, in people",
        "A higher threshold leaves rare lines out.",
    ),
    "base": ("Findings by base of rounding", "counts rounded to multiples of", "Coarser counts say less."),
    "decimals": ("Findings by decimals", "supports printed with this many decimals", "Fewer decimals say less."),
    "cell-base": ("Findings by base of rounding", "cells rounded to multiples of", "Coarser cells say less."),
}

# Repairs.

SIDES: Mapping[str, str] = {"before": "Before", "after": "After"}
TAKEN_OUT = "left out"
NOT_PUBLISHED = "not published"
NO_NUMBER = "no number"
POINT = "{number}: {what}; {verdict}, loses {loss} %"

# The guard, before the application is asked.

TOKEN_IS_USED = "This address has been used, or is not complete. Stop tacit serve and start it again."
OWN_ADDRESS_ONLY = "This server answers to its own address only."
ENTER_FIRST = "Open the address that tacit serve printed in the terminal."
NOT_OWN_PAGE = "This request did not come from a page of this server."
TOO_LARGE = "This is larger than the server takes."
