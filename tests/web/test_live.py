"""Sliders and lists of the screen Verdict, in a browser and over the server's own calls."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, Route

from tests.shell import leaking_baskets, tacit
from tests.web.conftest import CLINIC, HEADER
from tests.web.serving import Served, wait_for
from tests.web.test_screens import check_everywhere, press_to, settle


def ask(served: Served, project: str, part: str = "head", **asked: Any) -> dict[str, Any]:
    answer = served.call("POST", f"/p/{project}/live", {"part": part, **asked})
    return {"status": answer.status, **answer.json()}


def numbers(record: dict[str, Any]) -> dict[str, int]:
    return {run["code"]: run["findings"] for run in record["attacks"] if run["status"] != "not-relevant"}


@pytest.fixture(scope="module")
def leaking(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A list with findings at every k, mined as a user would."""
    folder = tmp_path_factory.mktemp("leaking")
    assert tacit("mine", "itemsets", leaking_baskets(folder), "--min-support", "20", "-o", folder / "list.csv").exit_code == 0
    return folder / "list.csv"


@pytest.fixture(scope="module")
def kept(served: Served, leaking: Path) -> str:
    """A project with this list, which tests only look at."""
    return served.project(list_csv=leaking.read_bytes(), list_csv_json=leaking.with_name("list.csv.json").read_bytes())


def test_a_step_shows_the_numbers_of_the_program(page: Page, served: Served, leaking: Path, kept: str) -> None:
    page.goto(f"http://127.0.0.1:{served.port}/p/{kept}/verdict")
    settle(page)
    page.wait_for_selector("#body section")
    press_to(page, "#k")
    for key, k in (("ArrowRight", 11), ("End", 50), ("Home", 2)):
        page.keyboard.press(key)
        settle(page)
        page.wait_for_function("(text) => document.querySelector('output[for=k]').textContent === text", arg=str(k))
        record = json.loads(tacit("audit", leaking, "--k", k, "--json", "-").stdout_bytes)
        shown = page.inner_text("#answer")
        assert page.inner_text("#answer .verdict strong").lower() == record["verdict"]
        sentence = record["headline"].partition(": ")[2]
        assert sentence[1:40] in shown, (k, shown[:300])
        for code, findings in numbers(record).items():
            if findings:
                assert f"{code} {findings:,} finding" in shown
    assert page.url.endswith("?k=2")
    assert page.evaluate("() => document.activeElement.id") == "k"


def test_lists_proofs_and_filters(page: Page, served: Served, leaking: Path, kept: str) -> None:
    page.goto(f"http://127.0.0.1:{served.port}/p/{kept}/verdict?k=50")
    settle(page)
    record = json.loads(tacit("audit", leaking, "--k", "50", "--top", "3", "--json", "-").stdout_bytes)
    first = page.locator(".ranked a >> nth=0")
    assert record["findings"][0]["statement"] in first.inner_text()
    check_everywhere(page)
    first.focus()
    page.keyboard.press("Enter")
    page.wait_for_selector("dialog[open] .finding")
    assert page.locator("dialog svg.picture, dialog .finding table").count() > 0
    cited = record["findings"][0]["because"]
    lines = {str(one["line"]) for one in cited if "line" in one}
    assert lines <= set(page.locator("dialog .release tbody th").all_inner_texts())
    page.keyboard.press("Escape")
    page.wait_for_selector("dialog[open]", state="detached")
    assert page.evaluate("() => document.activeElement.dataset.rank") == "1"
    button = page.locator(".heatmap td button >> nth=0")
    named = button.get_attribute("data-column")
    number = int(button.inner_text().replace(",", ""))
    button.click()
    page.wait_for_function("(name) => document.querySelector('[name=column]').value === name", arg=named)
    assert page.inner_text(".filters output") == f"{number:,} finding{'' if number == 1 else 's'}"
    assert page.url.endswith("/verdict?k=50")  # no address holds a value
    page.check("[data-only-used]")
    others = "document.querySelector('.release tr:not(.used) th[scope=row]')"
    page.wait_for_function(f"() => document.querySelector('[data-only-used]').checked && !{others}")
    page.click("text=Show all")
    page.wait_for_function("() => !document.querySelector('[data-clear]')")


def test_a_changed_release_is_what_a_repair_would_make(served: Served, leaking: Path, kept: str, tmp_path: Path) -> None:
    project = kept
    told = ask(served, project, settings={"k": "5", "base": "10"})
    assert told["status"] == 200, told
    words = ("repair", leaking, "--method", "round", "--base", "10", "--k", "5", "--json", "-", "-o", tmp_path / "rounded.csv")
    record = json.loads(tacit(*words).stdout_bytes)
    again = ask(served, project, settings={"k": "5", "base": "10"}, patient=True)
    if not again["pending"]:
        assert again["verdict"] == record["after"]["verdict"]
    for code, findings in numbers(record["after"]).items():
        if findings and code not in again["pending"]:
            assert f"<b>{code}</b> {findings:,} finding" in again["html"]
    assert {one["name"] for one in told["ranges"]} == {"k", "min-support", "base", "decimals"}
    assert 'class="point' in ask(served, project, "curves", settings={"k": "5"})["html"]


def test_nothing_is_clean_before_every_attack_has_run(served: Served) -> None:
    safe = b'itemset,count\n"[""a""]",40\n"[""b""]",40\n'
    project = served.project(list_csv=safe, list_csv_json=b'{"format": "tacit.itemsets/1", "n": 80, "min_support": 30}')
    first = ask(served, project, settings={"k": "9"})
    assert (first["verdict"], first["pending"]) == ("incomplete", ["X01"])
    assert "NOT FINISHED" in first["html"]
    assert "X01 is being computed" in first["html"]
    assert "CLEAN" not in first["html"]
    done = ask(served, project, settings={"k": "9"}, patient=True)
    assert (done["verdict"], done["pending"]) == ("clean", [])


def test_what_is_slow_joins_the_lists(page: Page, entered: tuple[BrowserContext, Served], tmp_path: Path) -> None:
    """A slow attack runs in a process of its own; the lists stay until its findings join them."""
    _, served = entered
    table = b"sex,area,count\nF,N,40\nF,S,3\nM,N,35\nM,S,14\n"
    project = served.project("slow", table_csv=table)
    served.call("PATCH", f"/p/{project}", {"settings": {"sa": "none"}})

    def hurry(route: Route) -> None:  # no attack gets the seconds that a small one needs
        asked = route.request.post_data_json
        assert isinstance(asked, dict)
        route.continue_(post_data=json.dumps({**asked, "patient": False}))

    page.route("**/live", hurry)
    page.goto(f"http://127.0.0.1:{served.port}/p/{project}/verdict?k=5")
    settle(page)
    (tmp_path / "table.csv").write_bytes(table)
    record = json.loads(tacit("audit", tmp_path / "table.csv", "--sa", "none", "--k", "5", "--json", "-").stdout_bytes)
    assert page.inner_text(".ranked .what >> nth=0") == record["findings"][0]["statement"]
    assert page.inner_text("#answer .verdict strong").lower() == record["verdict"] == "exposed"
    assert page.locator("#head .waits").count() == 0
    page.unroute("**/live")


def test_slow_attacks_are_cancelled_and_killed(served: Served) -> None:
    project = served.project(clinic_csv=CLINIC, clinic_csv_json=HEADER)
    path = f"/p/{project}/live/finish"
    assert served.call("GET", path).status == 404
    assert not served.call("POST", path, {"settings": {"k": "4"}}).json()["is_over"]
    served.call("DELETE", path)
    assert served.call("GET", path).status == 404
    served.call("POST", path, {"settings": {"k": "4"}})
    wait_for(lambda: bool(live_processes(served, project)))
    for running in live_processes(served, project):
        os.kill(running, signal.SIGKILL)
    wait_for(lambda: bool(served.call("GET", path).json()["is_over"]))
    told = served.call("GET", path).json()
    assert not told["has_answer"]
    assert "ended by the system" in told["message"]
    assert ask(served, project, settings={"k": "4"})["status"] == 200
    served.call("POST", path, {"settings": {"k": "4"}})
    wait_for(lambda: bool(served.call("GET", path).json()["has_answer"]))
    assert ask(served, project, settings={"k": "4"})["pending"] == []
    assert len(live_processes(served, project)) == 1


def test_a_killed_process_is_told_and_starts_again(served: Served) -> None:
    project = served.project(clinic_csv=CLINIC, clinic_csv_json=HEADER)
    assert ask(served, project)["verdict"] == "exposed"
    (running,) = live_processes(served, project)
    os.kill(running, signal.SIGKILL)
    told = ask(served, project)
    assert told["status"] in (200, 422)
    if told["status"] == 422:  # the process was still taken to be alive
        assert "ended by the system" in told["error"]
        told = ask(served, project)
    assert told["verdict"] == "exposed"
    assert ask(served, project, "nothing")["status"] == 404
    assert ask(served, project, settings=[])["status"] == 422
    served.call("DELETE", f"/p/{project}")
    assert not live_processes(served, project)


def live_processes(served: Served, project: str) -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit() and _is_live(name, served, project)]


def _is_live(process: str, served: Served, project: str) -> bool:
    try:
        words = Path("/proc", process, "cmdline").read_bytes().split(b"\0")
        where = os.readlink(f"/proc/{process}/cwd")
    except OSError:
        return False
    return b"tacit.cli.live" in words and where.endswith(project)


def test_files_that_cannot_be_read_are_told_without_values(served: Served) -> None:
    project = served.project(list_csv=b'itemset,count\n"[""PLANTED""]",-50\n')
    told = ask(served, project)
    assert told["status"] == 422
    assert told["error"].startswith("list.csv")
    assert "PLANTED" not in told["error"]
    project = served.project(table_csv=people_table())
    assert ask(served, project)["status"] == 422


def people_table() -> bytes:
    return b"a,b\n1,2\n"


def test_lines_are_decided_by_hand(page: Page, entered: tuple[BrowserContext, Served]) -> None:
    _, served = entered
    project = served.project("decided", clinic_csv=CLINIC, clinic_csv_json=HEADER)
    page.goto(f"http://127.0.0.1:{served.port}/p/{project}/repair?lines=3")
    settle(page)
    assert page.inner_text("main .verdict strong") == "CLEAN"
    page.click("[data-decide=keep][data-place='3']")
    page.click("#others summary")
    page.click("#lines [data-decide=hide][data-place='4']")
    check_everywhere(page)
    page.click("text=Solve again")
    page.wait_for_url("**lines=4")
    settle(page)
    assert page.locator(".diff tbody tr.gone th").all_inner_texts() == ["4"]
    assert page.locator(".sides .side").count() == 2


CELLS = b"sex,area,count\nF,N,40\nF,S,3\nM,N,35\nM,S,24\n*,N,75\n*,S,27\nF,*,43\nM,*,59\n"
OTHER = b"area,smoker,count\nN,yes,30\nN,no,45\nS,yes,12\nS,no,15\n"


@pytest.mark.parametrize("tables", [1, 2])
def test_cells_are_kept_and_hidden_by_keys(page: Page, entered: tuple[BrowserContext, Served], tables: int) -> None:
    """The small cell is hidden with others; one of them is kept instead, and the solution goes around it."""
    _, served = entered
    files = {"cells_csv": CELLS, **({"other_csv": OTHER} if tables == 2 else {})}
    project = served.project(f"{tables} tables", **files)
    served.call("PATCH", f"/p/{project}", {"settings": {"sa": "none", **({"people": "same"} if tables == 2 else {})}})
    served.answer(project, "repair", hide="1:3" if tables == 2 else "3")
    address = f"http://127.0.0.1:{served.port}/p/{project}/repair"
    page.goto(f"{address}?hide={'1:3' if tables == 2 else '3'}")
    settle(page)
    assert page.inner_text("main .verdict strong") == "CLEAN"
    hidden = set(page.locator(".diff tr.gone, .diff tr.changed").locator("th").all_inner_texts())
    assert "3" in hidden
    assert len(hidden) > 1
    other = min(hidden - {"3"})
    name = f"1:{other}" if tables == 2 else other
    press_to(page, f"[data-decide=keep][data-place='{name}']")
    page.keyboard.press("Enter")
    assert page.get_attribute(f"[data-decide=keep][data-place='{name}']", "aria-pressed") == "true"
    press_to(page, "button[type=submit]")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**keep={name.replace(':', '%3A')}**")
    settle(page)
    assert page.inner_text("main .verdict strong") == "CLEAN"
    now = set(page.locator(".diff tr.gone, .diff tr.changed").locator("th").all_inner_texts())
    assert other not in now
    assert now != hidden
    assert "--keep" in page.inner_text("main .command >> nth=0")
    page.click("text=Go on with this release")
    page.wait_for_url("**/verdict")
    settle(page)
    assert page.inner_text("#answer .verdict strong") == "CLEAN"
    assert "cells-safer.csv" in page.inner_text("#answer h1")


def test_a_reload_finds_the_work_going_on(page: Page, entered: tuple[BrowserContext, Served]) -> None:
    _, served = entered
    rows = "".join(f"{n % 7},{n % 11},{n % 13},{n % 5},{n % 3}\n" for n in range(60_000))
    project = served.project("reloaded", people_csv=f"a,b,c,d,e\n{rows}".encode())
    served.call("PATCH", f"/p/{project}", {"settings": {"qi": "a,b,c,d", "sa": "e"}})
    begun = served.call("POST", f"/p/{project}/run", {"screen": "verdict"}).json()
    assert begun["status"] in ("waiting", "running")
    jobs: list[str] = []
    page.on("response", lambda answer: jobs.append(answer.json()["job"]) if answer.url.endswith("/run") else None)
    page.goto(f"http://127.0.0.1:{served.port}/p/{project}/verdict")
    page.reload()
    settle(page)
    assert page.locator("main .verdict strong").count() == 1
    assert set(jobs) <= {begun["job"]}
