"""Rules that every request has to meet before the application sees it.

The server listens on the loopback address only, and this is the only name it answers to, so that no foreign name can be made to lead to it.
Whoever enters with the token that the terminal shows gets a cookie; other programs and pages of this machine have neither. A request that
changes something must come from a page of this server. Bodies are counted while they arrive, because a length that is announced may be wrong.
"""

from __future__ import annotations

import hmac
import secrets
from dataclasses import dataclass, field
from typing import Any

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tacit.web import texts

ADDRESS = "127.0.0.1"
LARGEST_MESSAGE = 1 << 20  #: Bytes of a request that is not a file.
LARGEST_FILE = 8 << 30  #: Bytes of a file that is sent.
_READ_ONLY = frozenset({"GET", "HEAD"})

#: Everything comes from this server, and script cannot turn text into markup except through the one named policy.
CONTENT_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "connect-src 'self'",
        "form-action 'none'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types tacit",
    )
)
HEADERS = {
    "content-security-policy": CONTENT_POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}


class TooLarge(Exception):
    """A body is longer than allowed; the application answers with :func:`refuse_size`."""


@dataclass
class Pass:
    """Secrets of one run of the server: the token and its cookie."""

    port: int
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    secret: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    is_used: bool = False

    @property
    def host(self) -> str:
        """The only host that requests may name."""
        return f"{ADDRESS}:{self.port}"

    @property
    def cookie(self) -> str:
        """Name of the cookie; servers on other ports have their own."""
        return f"tacit-{self.port}"

    @property
    def address(self) -> str:
        """Address to open first."""
        return f"http://{self.host}/enter?token={self.token}"

    def admits(self, request: Request) -> bool:
        """Return True if a request has the cookie."""
        return _equal(request.cookies.get(self.cookie, ""), self.secret)

    def enter(self, request: Request) -> Response:
        """Exchange the token for the cookie; a token is good for one browser."""
        if self.admits(request):
            return RedirectResponse("/", 303)
        if self.is_used or not _equal(request.query_params.get("token", ""), self.token):
            return _refuse(403, texts.TOKEN_IS_USED)
        self.is_used = True
        response = RedirectResponse("/", 303)
        response.set_cookie(self.cookie, self.secret, httponly=True, samesite="strict", path="/")
        return response


class Guard:
    """Middleware that refuses what the rules refuse and adds the headers to every answer."""

    def __init__(self, app: ASGIApp, entry: Pass) -> None:
        self.app = app
        self.entry = entry

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or pass it on."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                given = {name.lower() for name, _ in message["headers"]}
                added = [(name.encode(), value.encode()) for name, value in HEADERS.items() if name.encode() not in given]
                message["headers"] = [*message["headers"], *added]
            await send(message)

        request = Request(scope)
        if refused := self._refusal(request):
            await refused(scope, receive, send_with_headers)
            return
        limited = _Limited(receive, LARGEST_FILE if request.method == "PUT" else LARGEST_MESSAGE)
        if limited.is_announced(request.headers):
            await refuse_size()(scope, receive, send_with_headers)
            return
        await self.app(scope, limited, send_with_headers)

    def _refusal(self, request: Request) -> Response | None:
        if request.headers.getlist("host") != [self.entry.host]:
            return _refuse(421, texts.OWN_ADDRESS_ONLY)
        if request.url.path == "/enter" and request.method in _READ_ONLY:
            return self.entry.enter(request)
        if not self.entry.admits(request):
            return _refuse(403, texts.ENTER_FIRST)
        if request.method not in _READ_ONLY and not self._is_own(request.headers):
            return _refuse(403, texts.NOT_OWN_PAGE)
        return None

    def _is_own(self, headers: Headers) -> bool:
        site = headers.get("sec-fetch-site")
        origin = headers.get("origin")
        if site is None and origin is None:
            return False
        return site in (None, "same-origin") and origin in (None, f"http://{self.entry.host}")


class _Limited:
    """Channel of a request's body that ends at a number of bytes."""

    def __init__(self, receive: Receive, most: int) -> None:
        self._receive = receive
        self._left = most
        self._most = most

    def is_announced(self, headers: Headers) -> bool:
        """Return True if the announced length is too large, or not a length."""
        length = headers.get("content-length", "0")
        return not (length.isascii() and length.isdigit() and len(length) < 16) or int(length) > self._most

    async def __call__(self) -> Message:
        message = await self._receive()
        self._left -= len(message.get("body", b""))
        if self._left < 0:
            raise TooLarge
        return message


def _equal(one: str, other: str) -> bool:
    return hmac.compare_digest(one.encode(), other.encode())


def _refuse(status: int, sentence: str, **more: Any) -> Response:
    return PlainTextResponse(f"{sentence}\n", status, **more)


def refuse_size() -> Response:
    """Return the answer to a body that is too long."""
    return _refuse(413, texts.TOO_LARGE, headers={"connection": "close"})
