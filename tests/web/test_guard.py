"""Requests that the server refuses, sent as they are over a socket."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from tests.web.serving import Served, serving


def test_a_token_is_good_for_one_browser(tmp_path: Path) -> None:
    with serving(tmp_path) as served:
        host = {"Host": f"127.0.0.1:{served.port}"}
        assert served.raw("GET", "/", host).status == 403
        assert served.raw("GET", "/enter?token=wrong", host).status == 403
        first = served.raw("GET", f"/enter?token={served.token}", host)
        assert first.status == 303
        assert first.headers["location"] == "/"
        cookie = first.headers["set-cookie"].lower()
        assert "httponly" in cookie
        assert "samesite=strict" in cookie
        assert served.token not in first.headers["set-cookie"]
        assert served.raw("GET", f"/enter?token={served.token}", host).status == 403


@pytest.mark.parametrize("host", ["evil.example", "localhost:PORT", "127.0.0.1", "127.0.0.1:1", "[::1]:PORT", ""])
def test_other_hosts_are_refused(served: Served, host: str) -> None:
    headers = {**served.own, "Host": host.replace("PORT", str(served.port))}
    assert served.raw("GET", "/", headers).status in (400, 421)
    assert served.raw("GET", f"/enter?token={served.token}", headers).status in (400, 421)


def test_two_hosts_are_refused(served: Served) -> None:
    with socket.create_connection(("127.0.0.1", served.port), 10) as channel:
        own = f"Host: 127.0.0.1:{served.port}\r\n"
        channel.sendall(f"GET / HTTP/1.1\r\n{own}Host: evil.example\r\nCookie: {served.cookie}\r\n\r\n".encode())
        assert channel.recv(100).split()[1] in (b"400", b"421")


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": "none"},
        {},
    ],
)
def test_changes_come_from_own_pages_only(served: Served, headers: dict[str, str]) -> None:
    own = {name: value for name, value in served.own.items() if name != "Origin"}
    assert served.raw("POST", "/p", own | headers, b"{}").status == 403
    assert served.raw("POST", "/p", served.own | {"Sec-Fetch-Site": "same-origin"}, b"{}").status == 201


def test_bodies_are_limited_by_what_arrives(served: Served) -> None:
    assert served.raw("POST", "/p", served.own | {"Content-Length": "9000000"}).status == 413
    assert served.raw("POST", "/p", served.own | {"Content-Length": "99999999999999999999"}).status in (400, 413)
    pieces = b"".join(b"10000\r\n" + b"x" * 65536 + b"\r\n" for _ in range(20)) + b"0\r\n\r\n"
    assert served.raw("POST", "/p", served.own | {"Transfer-Encoding": "chunked"}, pieces).status == 413


def test_every_answer_has_the_headers(served: Served) -> None:
    for path in ("/", "/static/app.js", "/static/none.js", "/p/0000000000000000/open", "/nothing"):
        answer = served.raw("GET", path, served.own)
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert "require-trusted-types-for 'script'" in policy
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert "server" not in answer.headers


def test_the_socket_is_on_the_loopback_address(served: Served) -> None:
    wanted = f"{served.port:04X}"
    places = [line.split()[1] for line in Path("/proc/net/tcp").read_text().splitlines()[1:] if line.split()[3] == "0A"]
    assert [place for place in places if place.endswith(f":{wanted}")] == [f"0100007F:{wanted}"]
