"""How fast ``tacit serve`` is: start to page, a step of the slider to new numbers, memory while idle."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from benchmarks.datasets import FOLDER, survey

if TYPE_CHECKING:
    from playwright.sync_api import Page

TACIT = [sys.executable, "-m", "tacit"]
ARGUMENTS = ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"]
STEPS = 20
SLIDERS = {"k": "k", "min-support": "threshold", "base": "base", "decimals": "decimals"}
#: Resident memory of Python itself, with nothing imported.
_PYTHON = [sys.executable, "-c", "print(open('/proc/self/status').read())"]
#: Milliseconds from the event of the slider until new numbers stand on the page, painted.
_STEP = """([name, forwards]) => new Promise((done) => {
  const slider = document.getElementById(name);
  const answer = document.querySelector('#answer');
  const started = performance.now();
  const watcher = new MutationObserver(() => { watcher.disconnect(); requestAnimationFrame(() => done(performance.now() - started)); });
  watcher.observe(answer, { attributes: true, attributeFilter: ['data-step'] });
  slider.value = String(Number(slider.value) + (forwards ? 1 : -1));
  slider.dispatchEvent(new Event('input', { bubbles: true }));
})"""


def run() -> str:
    """The section of the page."""
    from playwright.sync_api import sync_playwright

    from tacit.reports.print import find_browser

    rows = []
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=find_browser(), headless=True, args=ARGUMENTS)
        started = []
        spent = []
        for _ in range(5):
            before = time.perf_counter()
            with _serving(Path(folder)) as (address, process):
                page = browser.new_page()
                page.goto(address)
                page.wait_for_selector("h1")
                started.append(time.perf_counter() - before)
                spent.append(_seconds(process.pid))
                idle = _resident(Path(f"/proc/{process.pid}/status").read_text())
                page.close()
        plain = _resident(subprocess.run(_PYTHON, capture_output=True, text=True, check=True).stdout)
        told = f"{min(started):.2f} s, of which the server computes {min(spent):.2f}"
        rows.append(("start to page", told, "under 1 s"))
        rows.append(("memory while idle, above Python", f"{(idle - plain) / 1024:.0f} MB", "30 MB"))
        for name, words in _lists(Path(folder)):
            listed = Path(folder, f"{name.split()[0]}.csv")
            subprocess.run([*TACIT, "mine", "itemsets", *words, "-o", str(listed)], check=True, stdout=subprocess.DEVNULL)
            lines = sum(1 for _ in listed.open()) - 1
            with _serving(Path(folder, name), listed) as (address, _process):
                page = browser.new_page()
                page.set_default_timeout(120_000)
                page.goto(address)
                page.click(".projects a")
                page.wait_for_selector("nav[aria-label=Screens]")
                page.goto(page.url.rpartition("/")[0] + "/verdict")
                page.wait_for_function("() => document.querySelector('#head') && !document.querySelector('[data-busy]')")
                for slider, label in SLIDERS.items():
                    steps = list(_steps(page, slider))
                    told = f"{median(steps):.0f} ms (at most {max(steps):.0f})"
                    rows.append((f"slider for {label} to new numbers, {name}: {lines:,} itemsets", told, "under 100 ms"))
                page.close()
        browser.close()
    table = "\n".join(f"| {what} | {told} | {goal} |" for what, told, goal in rows)
    return f"""## In a browser

`tacit serve` and a headless Chromium. A step is the time from the event of a slider until the new numbers are painted, the median of up to
{STEPS}; each is the outcome of all quick attacks, and of X01 where it is needed and was quick.

| what | measured | goal |
| --- | ---: | --- |
{table}
"""


def _steps(page: Page, slider: str) -> Iterator[float]:
    """Yield the milliseconds of steps to the end of a slider, or half of the steps, and back again."""
    most = min(STEPS // 2, int(page.get_attribute(f"#{slider}", "max") or 0) - int(page.input_value(f"#{slider}")))
    for forwards in (True, False):
        for _ in range(most):
            yield page.evaluate(_STEP, [slider, forwards])
            # The lists follow; a slow attack may follow them, and is not waited for.
            page.wait_for_function("() => !document.querySelector('[data-busy]') || !document.querySelector('#computing').hidden")


def _lists(folder: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield what is mined: the public sets where a folder of them is given, else made ones."""
    public = None if FOLDER is None else Path(FOLDER)
    if public is not None and (public / "adult.csv.gz").is_file():
        yield "Adult 5 %", [str(public / "adult.csv.gz"), "--min-support", "5%"]
        yield "mushroom 25 %", [str(public / "mushroom.dat.gz"), "--min-support", "25%"]
        return
    data = folder / "survey.dat"
    data.write_text("".join(" ".join(map(str, row)) + "\n" for row in survey()))
    yield "survey 25 %", [str(data), "--min-support", "25%"]


@contextmanager
def _serving(state: Path, *files: Path) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    environment = {**os.environ, "XDG_STATE_HOME": str(state)}
    words = [*TACIT, "serve", "--no-browser", *map(str, files)]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=environment)
    try:
        assert process.stdout is not None
        yield process.stdout.readline().split()[1], process
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(30)


def _seconds(process: int) -> float:
    """CPU seconds of a process."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _resident(status: str) -> int:
    """Kilobytes of resident memory."""
    found = re.search(r"VmRSS:\s+(\d+)", status)
    return int(found[1]) if found else 0


if __name__ == "__main__":
    print(run())
