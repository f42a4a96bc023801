"""Releases made, written into a register, reviewed and taken away."""

from __future__ import annotations

import io
import json
import time
import zipfile
from pathlib import Path
from typing import Any

from playwright.sync_api import BrowserContext, Page

from tacit.web.examples import EXAMPLES
from tests.shell import people, program, tacit
from tests.web.serving import Served
from tests.web.test_screens import check_everywhere, settle

OLD = b"smokes,region,count\nno,N,40\nyes,N,11\nno,S,35\nyes,S,14\n"
NEW = OLD.replace(b"11", b"10")


def run(served: Served, project: str, **asked: str) -> dict[str, Any]:
    """Run a command to its end."""
    told = served.call("POST", f"/p/{project}/run", asked).json()
    while not told.get("is_over", True):
        time.sleep(0.1)
        told = served.call("GET", f"/p/{project}/jobs/{told['job']}").json()
    return told


def test_a_release_is_made_audited_and_used(page: Page, tmp_path: Path) -> None:
    page.set_input_files("#files", str(people(tmp_path)))
    page.wait_for_url("**/open")
    page.click(".question >> text=A release made from it")
    page.wait_for_url("**/make")
    page.click("text=Bucketized table")
    page.wait_for_url("**make=bucketize")
    page.check("[data-columns=sa] input[value=ill]")
    page.click("text=Make and audit")
    page.wait_for_selector("#made .verdict")
    assert tacit("bucketize", tmp_path / "people.csv", "--qi", "sex,age", "--sa", "ill", "-o", tmp_path / "groups").exit_code < 2
    record = json.loads(tacit("audit", tmp_path / "groups", "--data", tmp_path / "people.csv", "--json", "-").stdout_bytes)
    assert page.inner_text("#made .verdict strong").lower() == record["verdict"]
    assert page.inner_text("#made .tiles b >> nth=0") == str(sum(attack["findings"] for attack in record["attacks"]))
    check_everywhere(page)
    with page.expect_download() as downloaded:
        page.click("text=Download groups.zip")
    names = zipfile.ZipFile(downloaded.value.path()).namelist()
    assert names == ["groups/buckets.json", "groups/qit.csv", "groups/st.csv"]
    page.click("[data-use]")
    page.wait_for_url("**/verdict")
    settle(page)
    assert page.inner_text("#answer .verdict strong").lower() == record["verdict"]


def test_a_table_with_blanks_is_made(served: Served, tmp_path: Path) -> None:
    project = served.project(people_csv=people(tmp_path).read_bytes())
    served.call("PATCH", f"/p/{project}", {"roles": {"people.csv": "data"}})
    asked = {"screen": "make", "make": "hide", "qi": "sex,age", "sa": "ill", "rows": "sex=F"}
    assert "not been made" in run(served, project, step="audit", **asked)["error"]
    made = run(served, project, **asked)
    assert made["status"] == "done", made
    audited = run(served, project, step="audit", **asked)
    record = json.loads(served.file(project, audited["job"], "record.json"))
    after = json.loads(served.file(project, made["job"], "record.json"))["after"]
    assert record["verdict"] == after["verdict"]
    assert record["release"][0]["file"] == "published.csv"


def test_a_register_grows_by_approved_releases(served: Served, tmp_path: Path) -> None:
    first = served.project("first", old_csv=OLD)
    told = {"sa": "none", "register": "clinic", "population": "2024"}
    served.call("PATCH", f"/p/{first}", {"settings": told})
    assert "not been approved" in run(served, first, screen="register", what="add")["error"]
    assert run(served, first, screen="verdict")["status"] == "done"
    review = {"decision": "approved", "by": "A. Checker"}
    assert served.call("POST", f"/p/{first}/review", review).status == 200
    added = run(served, first, screen="register", what="add")
    assert added["status"] == "done", added
    listed = run(served, first, screen="register", what="list")
    (entry,) = json.loads(served.file(first, listed["job"], "record.json"))["releases"]
    assert (entry["population"], entry["by"]) == ("2024", "A. Checker")
    served.call("PATCH", f"/p/{first}", {"settings": {"k": "12"}})
    assert "not been approved" in run(served, first, screen="register", what="add")["error"]

    second = served.project("second", new_csv=NEW)
    told = {"sa": "none", "register": "clinic", "population": "2025", "people": "left:1,joined:0"}
    served.call("PATCH", f"/p/{second}", {"settings": told})
    audited = run(served, second, screen="register", what="audit")
    (tmp_path / "new.csv").write_bytes(NEW)
    folder = served.state / "tacit" / "registers" / "clinic"
    options = ("--population", "2025", "--people", "left:1,joined:0", "--sa", "none", "--json", "-")
    by_hand = program("register", "audit", folder, "new.csv", *options, cwd=tmp_path)
    assert by_hand.returncode == 1
    assert served.file(second, audited["job"], "record.json") == by_hand.stdout
    assert "2024" in served.call("GET", f"/p/{second}/register").body.decode()
    assert served.call("POST", f"/p/{second}/register/last", {}).status == 201
    both = run(served, second, screen="verdict")
    record = json.loads(served.file(second, both["job"], "record.json"))
    assert [release["n"] for release in record["release"]] == [100, 99]
    assert record["verdict"] == "exposed"
    assert served.call("PATCH", f"/p/{second}", {"settings": {"register": "../../x"}}).status == 200
    assert "no such register" in run(served, second, screen="register", what="list")["error"]


def test_a_review_is_taken_away_with_what_it_accepts(served: Served, tmp_path: Path) -> None:
    project = served.project("reviewed", table_csv=b"sex,area,count\nF,N,40\nF,S,3\nM,N,35\nM,S,14\n")
    served.call("PATCH", f"/p/{project}", {"settings": {"sa": "none"}})
    assert served.call("POST", f"/p/{project}/waivers", {"kind": "columns", "what": "sex"}).status == 422
    waiver = {"kind": "columns", "what": "sex,area", "people": "1-9", "reason": "in the yearbook", "name": "A. Checker"}
    assert served.call("POST", f"/p/{project}/waivers", waiver).status == 201
    told = run(served, project, screen="verdict")
    (tmp_path / "table.csv").write_bytes(b"sex,area,count\nF,N,40\nF,S,3\nM,N,35\nM,S,14\n")
    (tmp_path / "review.toml").write_bytes(served.call("GET", f"/p/{project}/review.toml").body)
    by_hand = program("audit", "table.csv", "--sa", "none", "--config", "review.toml", "--json", "-", cwd=tmp_path)
    assert served.file(project, told["job"], "record.json") == by_hand.stdout
    record = json.loads(by_hand.stdout)
    assert record["waivers"][0]["status"] == "applied"
    served.call("POST", f"/p/{project}/review", {"decision": "approved", "by": "A. Checker", "comment": "as in 2024"})
    review = served.call("GET", f"/p/{project}/review.json").json()
    assert review["record"] == record["binding"]
    assert review["is_about_this_record"]
    assert review["waivers"][0]["reason"] == "in the yearbook"
    folder = run(served, project, screen="take", what="acro")
    archive = zipfile.ZipFile(io.BytesIO(served.file(project, folder["job"], "acro.zip")))
    assert "acro/results.json" in archive.namelist()
    marked = run(served, project, screen="take", what="mark")
    assert served.file(project, marked["job"], "marked.xlsx").startswith(b"PK")
    assert served.call("DELETE", f"/p/{project}/waivers/0").status == 200
    assert not served.call("GET", f"/p/{project}/review.json").json()["is_about_this_record"]


def test_folders_stay_in_their_project(served: Served) -> None:
    project = served.project()
    for path in ("a/../../../x.csv", "a/..%2F..%2Fx.csv", "..%2Fa/x.csv", "a/b/c/d/e/f.csv", "a/.hidden"):
        answer = served.raw("PUT", f"/p/{project}/folders/{path}", served.own, b"x")
        assert answer.status in (201, 404, 405, 422), (path, answer)
    listed = served.call("GET", f"/p/{project}/open").body.decode()
    assert "x.csv" not in listed
    assert "not here any more" not in listed
    assert not (served.state / "x.csv").exists()


def test_examples_are_what_they_say(entered: tuple[BrowserContext, Served]) -> None:
    _, served = entered
    project = served.call("POST", "/p", {"example": "years"}).json()["project"]
    told = run(served, project, screen="verdict")
    headline = json.loads(served.file(project, told["job"], "record.json"))["headline"]
    assert "these 2 releases; it is a single person" in headline
    for name, example in EXAMPLES.items():
        project = served.call("POST", "/p", {"example": name}).json()["project"]
        listed = served.call("GET", f"/p/{project}/open").body.decode()
        assert all(f'data-role="{file}"' in listed or file.endswith(".json") for file in example.roles)
    assert served.call("POST", "/p", {"example": "../x"}).status == 422


def test_two_tabs_change_one_project(page: Page, entered: tuple[BrowserContext, Served]) -> None:
    context, served = entered
    project = served.project("two tabs", table_csv=OLD)
    address = f"http://127.0.0.1:{served.port}/p/{project}"
    other = context.new_page()
    page.goto(f"{address}/attacker")
    other.goto(f"{address}/register")
    page.fill("#set-k", "7")
    other.fill("#set-note", "for the ministry")
    for tab, field in ((page, "#set-k"), (other, "#set-note")):
        with tab.expect_response(lambda answer: answer.request.method == "PATCH" and answer.ok):
            tab.press(field, "Tab")
    for tab in (page, other):
        tab.reload()
    other.goto(f"{address}/attacker")
    assert other.input_value("#set-k") == "7"
    page.goto(f"{address}/register")
    assert page.input_value("#set-note") == "for the ministry"
    other.close()
