"""Pictures of a report and of ``tacit serve`` for the pages, drawn by an installed browser.

    python docs/screenshots.py         write docs/images/report-*.png and docs/images/serve-*.png

The pictures are made by hand, after the report or a screen has changed; tests check that they are there and used, not how they look.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

from tacit.reports.print import find_browser

ROOT = Path(__file__).resolve().parents[1]
IMAGES = ROOT / "docs" / "images"
TACIT = (sys.executable, "-m", "tacit")
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
REPORT_SIZE = (1100, 900)  #: Of the window; a desk's width, and what is seen without scrolling.
DESK = 1280
PHONE = 390
MARGIN = 24  #: Below the last thing that is shown.
MOST_BYTES = 150_000
COLOURS = 128
SECONDS = 120
SETTLED = "() => !document.querySelector('[data-work], [data-busy], [data-adopts], .waits')"


def write_report(folder: Path) -> Path:
    """Write an exposed list and its report, as the command line does."""
    mine = ("mine", "itemsets", str(ROOT / "examples" / "patients.csv"), "--min-support", "10%", "-o", "patients-itemsets.csv")
    audit = ("audit", "patients-itemsets.csv", "--k", "10", "--report", "report.html", "-q")
    for words in (mine, audit):
        subprocess.run([*TACIT, *words], cwd=folder, stdout=subprocess.DEVNULL, check=False)
    return folder / "report.html"


@contextmanager
def browsing() -> Iterator[Browser]:
    """A browser that reaches this machine alone."""
    arguments = ["--disable-gpu", "--disable-dev-shm-usage", "--proxy-server=127.0.0.1:9"]
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        arguments.append("--no-sandbox")  # browsers refuse to run as root without it
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=find_browser(), args=arguments)
        yield browser
        browser.close()


@contextmanager
def serving(folder: Path) -> Iterator[str]:
    """A server that keeps everything in a folder; gives the address that lets in."""
    environment = {**os.environ, "XDG_STATE_HOME": str(folder), "TMPDIR": str(folder)}
    command = [*TACIT, "serve", "--no-browser"]
    with subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            yield server.stdout.readline().split()[1]  # "Open http://..."
        finally:
            server.terminate()


def draw(page: Page, name: str, *, last: str = "") -> None:
    """Draw what the window shows, down to an element if one is named, and keep few colours."""
    if last:
        width = page.evaluate("() => innerWidth")
        bottom = page.evaluate("(last) => document.querySelector(last).getBoundingClientRect().bottom + scrollY", last)
        page.set_viewport_size({"width": width, "height": int(bottom) + MARGIN})
    page.evaluate("() => scrollTo(0, 0)")
    target = IMAGES / f"{name}.png"
    page.screenshot(path=target)
    coverage = Image.Quantize.MAXCOVERAGE  # keeps rare colours: a small amber point must not turn red
    picture = Image.open(target).convert("RGB").quantize(COLOURS, method=coverage, dither=Image.Dither.NONE)
    picture.save(target, optimize=True)


def draw_report(browser: Browser, report: Path) -> None:
    """Draw the top of a report, light and dark."""
    width, height = REPORT_SIZE
    for scheme in SCHEMES:
        page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
        page.goto(report.as_uri())
        draw(page, f"report-{scheme}")
        page.close()


def draw_screens(browser: Browser, address: str, release: Path) -> None:
    """Draw an example that was recognised, then the verdict and the repairs of a release."""
    desk = browser.new_context(viewport={"width": DESK, "height": 900}, reduced_motion="reduce")
    desk.set_default_timeout(1000 * SECONDS)
    page = desk.new_page()
    page.goto(address)
    home = page.url
    page.click("[data-example=rules]")
    page.wait_for_selector(".sentence")
    page.wait_for_function(SETTLED)
    draw(page, "serve-open", last="#recognised")

    page.goto(home)
    page.set_input_files("#files", [release, release.with_name(f"{release.name}.json")])
    page.wait_for_selector(".sentence")
    page.wait_for_function(SETTLED)
    page.click("main a.button.main[href$='/verdict']")
    page.wait_for_selector("#body .heatmap")
    page.wait_for_function(SETTLED)
    page.click(".heatmap [data-column=age][data-size='1']")  # the list becomes short enough for one picture
    page.wait_for_selector("[data-clear]")
    page.mouse.move(0, 0)
    page.evaluate("() => document.activeElement.blur()")
    draw(page, "serve-verdict", last=".heatmap")
    page.set_viewport_size({"width": PHONE, "height": 844})
    page.emulate_media(color_scheme="dark")
    draw(page, "serve-phone", last="#head")

    page.set_viewport_size({"width": DESK, "height": 900})
    page.emulate_media(color_scheme="light")
    page.click("nav[aria-label=Screens] a[href$='/repair']")
    page.wait_for_selector("table.plainly")  # curves that were shown before are drawn again with it
    page.wait_for_selector("#curves .point")
    page.mouse.move(0, 0)
    draw(page, "serve-repair", last="#curves")
    desk.close()


def main() -> int:
    """Write every picture, and tell which are too large."""
    IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as name, browsing() as browser:
        report = write_report(Path(name))
        draw_report(browser, report)
        with serving(Path(name)) as address:
            draw_screens(browser, address, report.with_name("patients-itemsets.csv"))
    sizes = {path: path.stat().st_size for path in sorted(IMAGES.glob("*.png"))}
    for path, size in sizes.items():
        print(f"{path.relative_to(ROOT)}: {size:,} bytes")
    return int(max(sizes.values()) >= MOST_BYTES)


if __name__ == "__main__":
    sys.exit(main())
