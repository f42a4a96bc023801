"""Pages for print, by a browser that is installed."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from tacit.model.errors import OptionError

BROWSERS = (
    "chromium-headless-shell",  # a chromium without windows, which starts faster
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
    "microsoft-edge",
)
SECONDS = 60  #: What a browser may take for a page.


def find_browser() -> str:
    """Return the browser that prints, or raise."""
    browser = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    if browser is None:
        remedy = "Install chromium, or write .html and print it"
        raise OptionError("needs a browser, and none is installed", where="--report .pdf", remedy=remedy)
    return browser


def browser_words(folder: Path) -> list[str]:
    """Return the command of a browser without window or network.

    ``folder`` is for its files.
    """
    words = [find_browser(), "--headless", "--disable-gpu", f"--user-data-dir={folder}/profile", "--proxy-server=127.0.0.1:9"]
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        words.insert(1, "--no-sandbox")  # browsers refuse to run as root without it
    return words


def print_page(page: bytes) -> bytes:
    """Return a page as PDF.

    The browser gets the page as a file and no network: pages name nothing that lies elsewhere.
    """
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "page.html")
        target = Path(folder, "page.pdf")
        source.write_bytes(page)
        command = [*browser_words(Path(folder)), "--no-pdf-header-footer", f"--print-to-pdf={target}", source.as_uri()]
        try:
            done = subprocess.run(command, capture_output=True, timeout=SECONDS, check=False)
        except (OSError, subprocess.TimeoutExpired):
            done = None
        if done is None or not target.is_file():
            remedy = "Write .html and print it from there"
            raise OptionError("the browser did not print the page", where="--report .pdf", remedy=remedy)
        return target.read_bytes()
