"""The page about files: its examples are read as it says, and it names every form."""

from __future__ import annotations

import re
from pathlib import Path

from tacit.files.recognition import FORMATS, find_format
from tacit.files.releases import read_release

PAGE = (Path(__file__).parents[2] / "docs" / "formats.md").read_text(encoding="utf-8")
EXPECTED = {
    "r.csv": ("tacit", "itemsets", 3, 100),
    "rules.csv": ("tacit", "rules", 2, 100),
    "mlxtend.csv": ("mlxtend", "itemsets", 2, 8),
    "arules.csv": ("arules", "rules", 1, 100),
    "spmf.txt": ("spmf", "itemsets", 2, None),
    "borgelt.txt": ("borgelt-or-fimi", "itemsets", 2, 8),
    "fimi.txt": ("borgelt-or-fimi", "itemsets", 2, 8124),
    "model.pmml": ("pmml", "rules", 1, 4),
}
NEEDS_N = {"mlxtend.csv": 8, "arules.csv": 100, "borgelt.txt": 8}


def test_examples(tmp_path: Path) -> None:
    blocks = re.findall(r"<!-- file: (\S+) -->\n```\n(.*?)```", PAGE, re.DOTALL)
    assert {name for name, _ in blocks if not name.endswith(".json")} == set(EXPECTED)
    for name, content in blocks:
        (tmp_path / name).write_text(content, encoding="utf-8")
    for name, expected in EXPECTED.items():
        release = read_release(tmp_path / name, n=NEEDS_N.get(name))
        assert (find_format(tmp_path / name).name, release.kind, len(release), release.n) == expected, name


def test_every_form_is_described() -> None:
    assert all(f"`{part}`" in PAGE for entry in FORMATS for part in entry.name.split("-or-"))
