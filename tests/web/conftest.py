from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from tacit.reports.print import find_browser
from tests.web.serving import Served, serving

CLINIC = b'itemset,count\n"[""diabetes""]",50\n"[""diabetes"",""hypertension""]",49\n"[""hypertension""]",49\n"[""asthma""]",20\n'
HEADER = b'{"format": "tacit.itemsets/1", "n": 70, "min_support": 20, "complete": true}'
ARGUMENTS = ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"]
WIDTHS = (1280, 390)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=find_browser(), headless=True, args=ARGUMENTS)
        yield started
        started.close()


@pytest.fixture(scope="session")
def entered(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[BrowserContext, Served]]:
    """A browser that has entered a server, by the address of the terminal."""
    with serving(tmp_path_factory.mktemp("state")) as served:
        context = browser.new_context(reduced_motion="reduce")
        context.set_default_timeout(60_000)
        page = context.new_page()
        page.goto(served.address)
        assert "token" not in page.url
        cookie = next(one for one in context.cookies() if one["name"] == f"tacit-{served.port}")
        served.cookie = f"{cookie['name']}={cookie['value']}"
        page.close()
        yield context, served
        context.close()


@pytest.fixture(scope="session")
def served(entered: tuple[BrowserContext, Served]) -> Served:
    """The server that the browser has entered, for requests without a page."""
    return entered[1]


@pytest.fixture(scope="session")
def clinic(served: Served) -> str:
    """A project that tests only look at, so that its answers are computed once; its names are markup and script."""
    hostile = CLINIC.replace(b"diabetes", b"<img src=x onerror=document.title=1><script>document.title=2</script>")
    return served.project("<img src=x onerror=document.title=3>", clinic_csv=hostile, clinic_csv_json=HEADER)


@pytest.fixture
def page(entered: tuple[BrowserContext, Served]) -> Iterator[Page]:
    """A page that may neither complain nor ask elsewhere."""
    context, served = entered
    made = context.new_page()
    made.set_viewport_size({"width": WIDTHS[0], "height": 900})
    complaints: list[str] = []
    made.on("console", lambda message: complaints.append(message.text))
    made.on("pageerror", lambda error: complaints.append(str(error)))
    base = f"http://127.0.0.1:{served.port}"
    made.on("request", lambda request: None if request.url.startswith((base, "data:")) else complaints.append(request.url))
    made.goto(f"{base}/")
    yield made
    made.close()
    assert complaints == []
