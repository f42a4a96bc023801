"""The seven people of Garfinkel, Abowd and Martindale, Understanding database reconstruction attacks on public data, 2019, Table 1."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

#: What is published: counts, means and medians of ages; groups of fewer than three are hidden. The article assumes the last line.
BLOCK = """sex,race,marital,age,count,mean_age,median_age
*,*,*,*,7,38,30
F,*,*,*,4,33.5,30
M,*,*,*,3,44,30
*,B,*,*,4,48.5,51
*,W,*,*,3,24,24
*,*,single,18+,,,
*,*,married,*,4,54,51
F,B,*,*,3,36.7,36
M,B,*,*,,,
M,W,*,*,,,
F,W,*,*,,,
*,*,*,0-4,,,
*,*,*,0-17,,,
*,*,*,64+,,,
*,*,married,0-14,<1,,
"""
BLOCK_HEADER: dict[str, Any] = {"format": "tacit.frequencies/1", "n": 7, "hidden_below": 3, "span": [0, 125], "digits": 1}

#: The only people who fit.
PEOPLE = [
    ("F", "B", "single", "8"),
    ("M", "W", "single", "18"),
    ("F", "W", "single", "24"),
    ("M", "W", "married", "30"),
    ("F", "B", "married", "36"),
    ("F", "B", "married", "66"),
    ("M", "B", "married", "84"),
]


def write_block(folder: Path) -> Path:
    """The file of the block with its header."""
    path = folder / "block.csv"
    path.write_text(BLOCK)
    (folder / "block.csv.json").write_text(json.dumps(BLOCK_HEADER))
    return path
