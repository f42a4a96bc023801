"""Screens of the web application, one module each, in the order of the work."""

from __future__ import annotations

from collections.abc import Mapping

from tacit.web.screens.attacker import SCREEN as ATTACKER
from tacit.web.screens.make import SCREEN as MAKE
from tacit.web.screens.open import SCREEN as OPEN
from tacit.web.screens.register import SCREEN as REGISTER
from tacit.web.screens.repair import SCREEN as REPAIR
from tacit.web.screens.take import SCREEN as TAKE
from tacit.web.screens.verdict import SCREEN as VERDICT
from tacit.web.site import Screen

SCREENS: Mapping[str, Screen] = {screen.name: screen for screen in (OPEN, ATTACKER, MAKE, VERDICT, REPAIR, REGISTER, TAKE)}
