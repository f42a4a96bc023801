"""Pictures of a report for the pages: audits an example and lets an installed browser draw the page, light and dark.

    python docs/screenshots.py         write docs/images/report-light.png and docs/images/report-dark.png

The pictures are made by hand, after the report has changed; tests check that they are there and used, not how they look.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image

from tacit.reports.print import find_browser

ROOT = Path(__file__).resolve().parents[1]
IMAGES = ROOT / "docs" / "images"
SIZE = (1100, 900)  #: Of the window; a desk's width, and what is seen without scrolling.
SCHEMES = {"light": 1, "dark": 0}  #: The browser's numbers of the colour schemes.
MOST_BYTES = 150_000
COLOURS = 128
SECONDS = 60


def write_report(folder: Path) -> Path:
    """Write the report of an exposed list, as the command line does."""
    mine = ("mine", "itemsets", str(ROOT / "examples" / "patients.csv"), "--min-support", "10%", "-o", "patients-itemsets.csv")
    audit = ("audit", "patients-itemsets.csv", "--k", "10", "--report", "report.html", "-q")
    for words in (mine, audit):
        subprocess.run([sys.executable, "-m", "tacit", *words], cwd=folder, stdout=subprocess.DEVNULL, check=False)
    return folder / "report.html"


def draw(page: Path, target: Path, *, scheme: int) -> None:
    """Draw a page as the browser shows it, and keep few colours."""
    with tempfile.TemporaryDirectory() as profile:
        command = [find_browser(), "--headless", "--disable-gpu", "--hide-scrollbars", f"--user-data-dir={profile}"]
        command += [f"--window-size={SIZE[0]},{SIZE[1]}", f"--blink-settings=preferredColorScheme={scheme}"]
        command += ["--proxy-server=127.0.0.1:9", f"--screenshot={target}", page.as_uri()]
        if hasattr(os, "geteuid") and os.geteuid() == 0:
            command.insert(1, "--no-sandbox")  # browsers refuse to run as root without it
        subprocess.run(command, capture_output=True, timeout=SECONDS, check=True)
    picture = Image.open(target).convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
    picture.save(target, optimize=True)


def main() -> int:
    """Write both pictures."""
    IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        page = write_report(Path(name))
        for scheme, number in SCHEMES.items():
            target = IMAGES / f"report-{scheme}.png"
            draw(page, target, scheme=number)
            size = target.stat().st_size
            print(f"{target.relative_to(ROOT)}: {size:,} bytes")
            if size > MOST_BYTES:
                return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
