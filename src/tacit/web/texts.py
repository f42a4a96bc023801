"""English of the web application in one place, as far as Python says it.

Templates hold their own words; what script says stands in ``static/words.js``. Sentences with a name in braces are filled by ``str.format``.
"""

from __future__ import annotations

from collections.abc import Mapping

# Names of screens, in the order of the work.

SCREENS: Mapping[str, str] = {"open": "Open", "verdict": "Verdict", "repair": "Repair", "take": "Take away"}

# Groups of settings, and the settings with a label and a hint each.

RELEASE = "What the file is"
ATTACKER = "What the attacker knows"
LIMITS = "What you accept"
SETTINGS: Mapping[str, tuple[str, str]] = {
    "n": ("People in the data", "If the file does not say how many people it is about"),
    "qi": ("Columns others may know", "Quasi-identifiers, separated by commas"),
    "sa": ("Sensitive columns", "Separated by commas; none if nothing is sensitive"),
    "missing": ("Missing mark", "What an unknown value looks like, for instance ?"),
    "convention": ("Publisher's convention", "How a frequency table was rounded or redacted"),
    "people": ("People of several releases", "How the populations are related"),
    "k": ("Smallest group", "Groups of fewer people are findings"),
    "l": ("Sensitive values left", "How many must remain possible for everybody"),
    "max-posterior": ("Highest probability", "Of a sensitive value, between 0 and 1"),
}

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
NO_USABLE_NAME = "the file has no usable name"
RENAME = "Rename it"
FOLDER_FAILED = "the folder of projects cannot be made ({reason})"
OTHER_FOLDER = "Name another folder with the variable XDG_STATE_HOME"
NOT_TRIED = "the repairs have not been tried"
TRY_FIRST = "Try them first"
NO_SUCH_REPAIR = "there is no such repair"
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
}

# The guard, before the application is asked.

TOKEN_IS_USED = "This address has been used, or is not complete. Stop tacit serve and start it again."
OWN_ADDRESS_ONLY = "This server answers to its own address only."
ENTER_FIRST = "Open the address that tacit serve printed in the terminal."
NOT_OWN_PAGE = "This request did not come from a page of this server."
TOO_LARGE = "This is larger than the server takes."
