"""Projects, files and answers over the server's own calls."""

from __future__ import annotations

import json
import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.shell import program
from tests.web.conftest import CLINIC, HEADER
from tests.web.serving import Served, serving


def test_records_are_those_of_the_program(served: Served, tmp_path: Path) -> None:
    project = served.project(clinic_csv=CLINIC, clinic_csv_json=HEADER)
    told = served.answer(project, "verdict", k="9")
    assert told["status"] == "done", told
    (tmp_path / "clinic.csv").write_bytes(CLINIC)
    (tmp_path / "clinic.csv.json").write_bytes(HEADER)
    run = program("audit", "clinic.csv", "--k", "9", "--json", "-", cwd=tmp_path)
    assert run.returncode == 1
    assert served.file(project, told["job"], "record.json") == run.stdout
    page = served.call("GET", f"/p/{project}/verdict?k=9").body.decode()
    assert "1 person has diabetes but not hypertension." in page


def test_a_repair_is_carried_out_and_downloaded(served: Served, clinic: str) -> None:
    fresh = served.project(clinic_csv=CLINIC, clinic_csv_json=HEADER)
    assert "have not been tried" in served.call("POST", f"/p/{fresh}/run", {"screen": "repair", "choice": "1"}).json()["error"]
    project = clinic
    tried = served.answer(project, "repair")
    ways = json.loads(served.file(project, tried["job"], "record.json"))["suggestions"]
    assert ways[0]["verdict"] == "clean"
    done = served.answer(project, "repair", choice="1")
    record = json.loads(served.file(project, done["job"], "record.json"))
    assert record["after"]["verdict"] == "clean"
    assert record["method"] == ways[0]["method"]
    assert served.file(project, done["job"], "clinic-safer.csv").startswith(b"itemset,")
    page = served.call("GET", f"/p/{project}/repair?choice=1").body.decode()
    assert "tacit repair clinic.csv --method" in page
    assert f"/jobs/{done['job']}/files/clinic-safer.csv" in served.call("GET", f"/p/{project}/take").body.decode()


def test_external_answers_describe_nobody(served: Served) -> None:
    project = served.project(clinic_csv=CLINIC, clinic_csv_json=HEADER)
    told = served.answer(project, "take")
    for name in ("report.html", "record.json"):
        content = served.file(project, told["job"], name)
        assert content
        assert b"diabetes" not in content


def test_what_the_program_asks_is_shown(served: Served) -> None:
    project = served.project(table_csv=b"a,b\n1,2\n")
    told = served.answer(project, "verdict")
    assert told["status"] == "failed"
    assert told["message"].startswith("table.csv: ")
    assert told["message"].split(". ")[0] in served.call("GET", f"/p/{project}/verdict").body.decode().replace("&#x27;", "'")
    empty = served.project()
    assert "no file is a release yet" in served.call("POST", f"/p/{empty}/run", {"screen": "verdict"}).json()["error"]


def test_names_of_files_lead_nowhere_else(served: Served) -> None:
    project = served.project()
    for name in (
        "..%2F..%2Fetc%2Fpasswd",
        "%2Fetc%2Fpasswd",
        "..",
        "-o",
        "%00",
        ".hidden",
        "a%0Ab",
        "%3Cscript%3E.csv",
        "a'b\".csv",
    ):
        answer = served.raw("PUT", f"/p/{project}/files/{name}", served.own, b"x")
        assert answer.status in (201, 307, 404, 405, 422), (name, answer)
        if answer.status == 201:
            kept = answer.json()["name"]
            assert not set(kept) & set("/\\\n<>\"'\0"), kept
            assert not kept.startswith((".", "-"))
    assert b"<script>" not in served.call("GET", f"/p/{project}/open").body
    told = served.answer(project, "verdict")
    for name in ("..%2F..%2Fproject.json", "job.json", "progress.json"):
        assert served.call("GET", f"/p/{project}/jobs/{told['job']}/files/{name}").status == 404


def test_settings_cannot_smuggle_options(served: Served) -> None:
    project = served.project(clinic_csv=CLINIC)
    assert served.call("PATCH", f"/p/{project}", {"settings": {"output": "x"}}).status == 422
    assert served.call("PATCH", f"/p/{project}", {"settings": {"qi": "--config=/etc/passwd"}}).status == 200
    told = served.answer(project, "verdict")
    assert told["status"] == "failed"
    assert "passwd" not in told["message"] or "--config" in told["message"]
    assert served.call("PATCH", f"/p/{project}", b"[1]").status == 422
    assert served.call("PATCH", f"/p/{project}", b"{").status == 422


def test_many_requests_at_once_do_not_mix(served: Served) -> None:
    projects = [served.project(f"p{n}", list_csv=CLINIC.replace(b"20", str(20 + n).encode())) for n in range(4)]

    def ask(number: int) -> bool:
        place = number % 4
        body = served.call("GET", f"/p/{projects[place]}/open").body
        return f"p{place}".encode() in body and not any(f">p{other}<".encode() in body for other in range(4) if other != place)

    with ThreadPoolExecutor(20) as pool:
        assert all(pool.map(ask, range(200)))


def test_a_command_can_be_cancelled_and_killed(served: Served) -> None:
    rows = "".join(f"{n % 7},{n % 11},{n % 13},{n % 5},{n % 3}\n" for n in range(60_000))
    project = served.project(people_csv=f"a,b,c,d,e\n{rows}".encode())
    served.call("PATCH", f"/p/{project}", {"settings": {"qi": "a,b,c,d", "sa": "e"}})
    told = served.call("POST", f"/p/{project}/run", {"screen": "verdict"}).json()
    assert told["status"] in ("waiting", "running")
    served.call("DELETE", f"/p/{project}/jobs/{told['job']}")
    assert served.call("GET", f"/p/{project}/jobs/{told['job']}").json()["status"] == "cancelled"
    again = served.call("POST", f"/p/{project}/run", {"screen": "verdict"}).json()
    assert again["status"] in ("waiting", "running")
    for _ in range(100):
        found = [int(name) for name in os.listdir("/proc") if name.isdigit() and _is_of(name, again["job"])]
        if found:
            break
        time.sleep(0.05)
    os.kill(found[0], signal.SIGKILL)
    for _ in range(100):
        told = served.call("GET", f"/p/{project}/jobs/{again['job']}").json()
        if told["is_over"]:
            break
        time.sleep(0.05)
    assert told["status"] == "failed"
    assert "ended by the system" in told["message"]


def _is_of(process: str, job: str) -> bool:
    try:
        words = Path("/proc", process, "cmdline").read_bytes()
    except OSError:
        return False
    return job.encode() in words and b"audit" in words


def test_nothing_is_lost_and_no_copy_stays(tmp_path: Path) -> None:
    state, temporary = tmp_path / "state", tmp_path / "tmp"
    temporary.mkdir()
    with serving(state, temporary=temporary) as served:
        served.enter()
        project = served.project("kept", clinic_csv=CLINIC, clinic_csv_json=HEADER)
        served.call("PATCH", f"/p/{project}", {"settings": {"k": "7"}, "review": {"decision": "returned", "by": "A. Checker"}})
        told = served.answer(project, "verdict")
        copies = [path for path in temporary.rglob("*") if path.is_file()]
        assert {path.stat().st_mode & 0o077 for path in copies} == {0}
        served.process.kill()
        served.process.wait(10)
    assert [path for path in temporary.rglob("*.csv") if path.is_file()]
    with serving(state, temporary=temporary) as served:
        assert not [path for path in temporary.rglob("*.csv") if path.is_file()]
        served.enter()
        assert json.loads(served.file(project, told["job"], "record.json"))["policy"]["k"] == 7
        page = served.call("GET", f"/p/{project}/open").body.decode()
        assert "not here any more" in page
        assert served.call("POST", f"/p/{project}/run", {"screen": "repair"}).status == 409
        assert 'value="A. Checker"' in served.call("GET", f"/p/{project}/take").body.decode()
        assert served.stop() == 0
    assert not list(temporary.iterdir())
    assert (state / "tacit" / "projects").stat().st_mode & 0o077 == 0


def test_named_files_stay_where_they_are(tmp_path: Path) -> None:
    release = tmp_path / "list.csv"
    release.write_bytes(CLINIC)
    (tmp_path / "list.csv.json").write_bytes(HEADER)
    with serving(tmp_path / "state", release) as served:
        served.enter()
        home = served.call("GET", "/").body.decode()
        project = home.partition('href="/p/')[2][:16]
        assert served.answer(project, "verdict")["status"] == "done"
        served.call("DELETE", f"/p/{project}/files/list.csv")
        served.call("DELETE", f"/p/{project}")
        assert served.call("GET", f"/p/{project}/open").status == 404
    assert release.read_bytes() == CLINIC
