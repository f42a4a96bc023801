"""Colours of pages and pictures, in light and in dark."""

from __future__ import annotations

#: Name of each colour, light, dark.
_PALETTE = {
    "page": ("#ffffff", "#14171b"),
    "ink": ("#1b1f24", "#e6e9ed"),
    "soft": ("#57606a", "#a3adb8"),
    "line": ("#d0d7de", "#363d46"),
    "panel": ("#f6f8fa", "#1c2127"),
    "danger": ("#b3261e", "#ff8f85"),
    "danger-soft": ("#fdecea", "#3a1b19"),
    "fact": ("#0b62a8", "#7cc0ff"),
    "good": ("#1a7f37", "#6fdb8b"),
    "good-soft": ("#e6f4ea", "#16301d"),
    "open": ("#8a5a00", "#f0c065"),
    "open-soft": ("#fff4dc", "#362a10"),
    "take": ("#9a9a9a", "#7d7d7d"),
    "left": ("#d55e00", "#ff8c42"),
    "band": ("#bcd9ee", "#24465c"),
    "square": ("#d5dbe2", "#3b434d"),
}
LIGHT = {name: light for name, (light, _) in _PALETTE.items()}
DARK = {name: dark for name, (_, dark) in _PALETTE.items()}
