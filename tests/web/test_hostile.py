"""Files, names and requests that are meant to harm: each is told, and the server goes on."""

from __future__ import annotations

import gzip
import io
import json
import os
import socket
import subprocess
import time
import zipfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tacit.web import texts
from tests.shell import program
from tests.web import full_disk
from tests.web.conftest import CLINIC, HEADER
from tests.web.serving import Served, serving, wait_for

MARKER = "PLANTED7f3a"
LITTLE = 1_100_000  #: Kilobytes of addresses, enough for the program and not for what a bomb unpacks to.


@pytest.fixture(scope="module")
def confined(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server whose commands have little memory."""
    with serving(tmp_path_factory.mktemp("state"), limit=LITTLE) as started:
        started.enter()
        yield started


def bomb_of_zeros(size: int) -> bytes:
    """Return many bytes, packed into few."""
    packed = io.BytesIO()
    with gzip.GzipFile(fileobj=packed, mode="wb", compresslevel=1) as stream:
        stream.write(b"itemset,count\n")
        piece = b"0" * (1 << 20)
        for _ in range(size >> 20):
            stream.write(piece)
    return packed.getvalue()


def workbook_bomb(size: int) -> bytes:
    """Return a workbook whose sheet unpacks to many bytes."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        archive.writestr("xl/workbook.xml", "<workbook/>")
        with archive.open("xl/worksheets/sheet1.xml", "w", force_zip64=True) as sheet:
            for _ in range(size >> 20):
                sheet.write(b"<row>" + b" " * ((1 << 20) - 5))
    return packed.getvalue()


def test_bombs_are_told_and_harm_nothing(confined: Served) -> None:
    small = confined.project(clinic_csv=CLINIC, clinic_csv_json=HEADER)
    for name, content in (("bomb_csv_gz", bomb_of_zeros(360 << 20)), ("book_xlsx", workbook_bomb(100 << 20))):
        files: dict[str, Any] = {name: content}
        project = confined.project(**files)
        told = confined.answer(project, "verdict")
        assert told["status"] == "failed", told
        assert told["message"]
        assert "Traceback" not in told["message"]
        live = confined.call("POST", f"/p/{project}/live", {"part": "head"})
        assert live.status == 422
        confined.call("DELETE", f"/p/{project}")
    assert confined.answer(small, "verdict")["status"] == "done"


def test_names_and_values_are_text_wherever_they_go(served: Served) -> None:
    hostile = [
        "<b onload=x>",
        "'; DROP TABLE t; --",
        "\x1b[31mred",
        "../../etc/passwd",
        "=cmd|' /C calc'!A0",
        "{{7*7}}",
        "a\u202eb",
    ]
    rows = "".join(f'"{json.dumps([name]).replace(chr(34), chr(34) * 2)}",{50 + place}\n' for place, name in enumerate(hostile))
    header = {"format": "tacit.itemsets/1", "n": 200, "min_support": 50}
    project = served.project("{{7*7}}<i>", list_csv=f"itemset,count\n{rows}".encode(), list_csv_json=json.dumps(header).encode())
    assert served.call("POST", f"/p/{project}/live", {"part": "head"}).status == 200
    body = served.call("POST", f"/p/{project}/live", {"part": "body", "query": {"column": "<script>", "page": "-1e9"}}).json()[
        "html"
    ]
    assert "&lt;b onload=x&gt;" in body
    for bad in ("<b onload", "\x1b", "<script", "49<"):
        assert bad not in body, bad
    page = served.call("GET", f"/p/{project}/open").body.decode()
    assert "{{7*7}}&lt;i&gt;" in page


def test_no_value_reaches_messages_or_the_terminal(tmp_path: Path) -> None:
    with serving(tmp_path) as served:
        served.enter()
        broken = f'itemset,count\n"[""{MARKER}""]",5\n"[""{MARKER}"",""b""]",9\n'.encode()
        project = served.project(list_csv=broken, list_csv_json=b'{"format": "tacit.itemsets/1", "n": 3}')
        told = served.answer(project, "verdict")
        assert told["status"] == "failed"
        assert MARKER not in told["message"]
        answers = [
            served.call("PATCH", f"/p/{project}", {"settings": {"sa": MARKER}}),
            served.call("POST", f"/p/{project}/live", {"part": "head"}),
            served.call("GET", f"/p/{project}/jobs/{told['job']}"),
            served.call("POST", f"/p/{project}/run", f'{{"screen": "{MARKER}"}}'.encode()),
            served.call("GET", f"/{MARKER}"),
        ]
        for answer in answers:
            assert MARKER.encode() not in answer.body
            assert not any(MARKER in value for value in answer.headers.values())
        assert served.stop() == 0
        assert served.process.stderr is not None
        assert MARKER not in served.process.stderr.read()


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/p"),
        ("PATCH", "/p/PROJECT"),
        ("DELETE", "/p/PROJECT"),
        ("PUT", "/p/PROJECT/files/a.csv"),
        ("DELETE", "/p/PROJECT/files/clinic.csv"),
        ("POST", "/p/PROJECT/run"),
        ("POST", "/p/PROJECT/live"),
        ("DELETE", "/p/PROJECT/jobs/00000000000000000000"),
        ("OPTIONS", "/p"),
    ],
)
def test_every_change_must_come_from_an_own_page(served: Served, method: str, path: str) -> None:
    project = served.project(clinic_csv=CLINIC)
    own = {name: value for name, value in served.own.items() if name != "Origin"}
    for headers in ({}, {"Origin": "http://localhost"}, {"Sec-Fetch-Site": "same-site"}):
        assert served.raw(method, path.replace("PROJECT", project), own | headers, b"{}").status == 403
    no_cookie = {name: value for name, value in served.own.items() if name != "Cookie"}
    assert served.raw(method, path.replace("PROJECT", project), no_cookie, b"{}").status == 403
    assert served.call("GET", f"/p/{project}/open").status == 200


def test_lengths_that_lie_are_not_believed(served: Served) -> None:
    own = "".join(f"{name}: {value}\r\n" for name, value in served.own.items())
    project = served.project()
    for length, body in (("5", b"x" * 3_000_000), ("-1", b"x"), ("5, 6", b"xxxxx"), ("0x10", b"x" * 16)):
        with socket.create_connection(("127.0.0.1", served.port), 10) as channel:
            start = f"PUT /p/{project}/files/a.csv HTTP/1.1\r\n{own}Content-Length: {length}\r\n\r\n".encode()
            try:
                channel.sendall(start + body)
                answer = channel.recv(200)
            except ConnectionError:
                answer = b"HTTP/1.1 400"
            assert answer.split()[1] in (b"201", b"400", b"413"), (length, answer)
    assert served.call("GET", f"/p/{project}/open").status == 200


def test_settings_lead_to_no_file_outside(served: Served, tmp_path: Path) -> None:
    secret = tmp_path / "secret.csv"
    secret.write_text("a,b\n1,2\n")
    project = served.project(clinic_csv=CLINIC, clinic_csv_json=HEADER)
    for value in (str(secret), f"../../../../../../../..{secret}", "/etc/passwd"):
        assert served.call("PATCH", f"/p/{project}", {"settings": {"sa": value}}).status == 200
        for answer in (
            served.call("POST", f"/p/{project}/run", {"screen": "verdict"}),
            served.call("POST", f"/p/{project}/live", {"part": "head"}),
        ):
            assert answer.status == 422
            assert "outside" in answer.json()["error"]


def test_there_is_no_option_for_another_address(tmp_path: Path) -> None:
    for words in (("--host", "0.0.0.0"), ("--bind", "0.0.0.0"), ("--listen", "::")):
        run = program("serve", "--no-browser", *words, cwd=tmp_path)
        assert run.returncode == 2
        assert b"there is no option" in run.stderr


def test_fifty_commands_wait_in_turn_and_do_not_mix(served: Served) -> None:
    project = served.project(clinic_csv=CLINIC, clinic_csv_json=HEADER)

    def start(k: int) -> str:
        told = served.call("POST", f"/p/{project}/run", {"screen": "verdict", "k": str(k)}).json()
        assert told["status"] in ("waiting", "running"), told
        return str(told["job"])

    with ThreadPoolExecutor(10) as pool:
        jobs = list(pool.map(start, range(2, 52)))
    assert len(set(jobs)) == 50
    for job in jobs[3:]:
        served.call("DELETE", f"/p/{project}/jobs/{job}")
    for k, job in zip(range(2, 5), jobs[:3], strict=True):
        for _ in range(600):
            told = served.call("GET", f"/p/{project}/jobs/{job}").json()
            if told["is_over"]:
                break
            time.sleep(0.1)
        assert told["status"] == "done"
        assert json.loads(served.file(project, job, "record.json"))["policy"]["k"] == k
    assert all(served.call("GET", f"/p/{project}/jobs/{job}").json()["status"] == "cancelled" for job in jobs[5:])


def test_commands_end_with_the_server(tmp_path: Path) -> None:
    rows = "".join(f"{n % 7},{n % 11},{n % 13},{n % 5},{n % 3}\n" for n in range(60_000))
    for how in ("terminate", "kill"):
        with serving(tmp_path / how) as served:
            served.enter()
            project = served.project(people_csv=f"a,b,c,d,e\n{rows}".encode())
            served.call("PATCH", f"/p/{project}", {"settings": {"qi": "a,b,c,d", "sa": "e"}})
            served.call("POST", f"/p/{project}/run", {"screen": "verdict"})
            wait_for(partial(is_at_work, project, True))
            getattr(served.process, how)()
            served.process.wait(20)
            wait_for(partial(is_at_work, project, False))


def is_at_work(project: str, wanted: bool) -> bool:
    return bool(children_of(project)) == wanted


def children_of(project: str) -> list[int]:
    found = []
    for name in os.listdir("/proc"):
        try:
            if name.isdigit() and os.readlink(f"/proc/{name}/cwd").removesuffix(" (deleted)").endswith(project):
                found.append(int(name))
        except OSError:
            continue
    return found


def test_a_folder_of_another_account_is_not_used(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    run = program("serve", "--no-browser", cwd=tmp_path, env={**os.environ, "XDG_STATE_HOME": str(blocked)}, timeout=20)
    assert run.returncode == 2
    assert b"the folder of projects cannot be made" in run.stderr
    assert isinstance(run, subprocess.CompletedProcess)


def test_a_full_disk_is_told_and_nothing_is_half_written(tmp_path: Path) -> None:
    """Whatever is written fails as on a full disk; afterwards everything works as before."""
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text(full_disk.SOURCE)
    flag = tmp_path / "full"
    more = {"PYTHONPATH": str(tmp_path / "site"), "FULL_WHILE": str(flag), "PYTHONDONTWRITEBYTECODE": "1"}
    with serving(tmp_path / "state", more=more) as served:
        served.enter()
        project = served.project("kept", clinic_csv=CLINIC, clinic_csv_json=HEADER)
        folder = served.state / "tacit" / "projects"
        before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
        flag.touch()
        refused = [
            served.call("POST", "/p", {"name": "new"}),
            served.call("POST", "/p", {"example": "rules"}),
            served.call("PUT", f"/p/{project}/files/clinic.csv", b"x" * 100_000),
            served.call("PUT", f"/p/{project}/folders/parts/a.csv", b"x"),
            served.call("PATCH", f"/p/{project}", {"settings": {"k": "7"}}),
            served.call("POST", f"/p/{project}/review", {"decision": "approved", "by": "A. Checker"}),
            served.call("POST", f"/p/{project}/run", {"screen": "verdict"}),
        ]
        assert [answer.status for answer in refused] == [507] * len(refused)
        assert {answer.json()["error"] for answer in refused} == {texts.DISK_IS_FULL}
        assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before
        assert served.call("GET", f"/p/{project}/open").status == 200
        flag.unlink()
        started = served.call("POST", f"/p/{project}/run", {"screen": "verdict", "k": "6"}).json()
        flag.touch()
        wait_for(lambda: bool(served.call("GET", f"/p/{project}/jobs/{started['job']}").json()["is_over"]))
        told = served.call("GET", f"/p/{project}/jobs/{started['job']}").json()
        assert told["status"] == "failed"
        assert "the disk is full" in told["message"].lower()
        flag.unlink()
        assert served.answer(project, "verdict", k="6")["status"] == "done"
        assert json.loads(served.file(project, started["job"], "record.json"))["verdict"] == "exposed"
        assert served.stop() == 0
