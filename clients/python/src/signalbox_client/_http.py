"""Single HTTP requests to the service, without retries."""

from __future__ import annotations

import json
import math
import re
import ssl
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from http.client import HTTPException, HTTPResponse
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from ._errors import SignalboxError


@dataclass(frozen=True)
class Request:
    method: str
    path: str
    #: The query parameters: lists are repeated, None is left out.
    query: Mapping[str, Any] = field(default_factory=dict)
    #: The body, which is sent as JSON.
    body: Mapping[str, Any] | None = None
    headers: Mapping[str, str | None] = field(default_factory=dict)
    #: How long the service may hold the request, in seconds, which adds to the time limit.
    wait: float = 0.0


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Treats a redirect as an error: following it could send the token to another host."""

    def redirect_request(self, *_args: Any) -> None:
        return None


class Connection:
    """
    Sends requests through the proxy that the environment names (`http_proxy`, `no_proxy`), each on its own connection,
    so that a forked child shares none.
    """

    def __init__(self, url: str, token: str | None, timeout: float, ssl_context: ssl.SSLContext | None = None) -> None:
        self._base = _checked_url(url)
        self._headers = {"Authorization": bearer(token, "token")}
        self._timeout = timeout
        # Proxies are read from the environment only: the system's settings cannot be read after a fork on macOS.
        self._opener = urllib.request.build_opener(
            urllib.request.ProxyHandler(urllib.request.getproxies_environment()),
            urllib.request.HTTPSHandler(context=ssl_context),
            _NoRedirects(),
        )

    def open(self, request: Request, timeout: float | None = None) -> HTTPResponse:
        """
        Returns the response as soon as its headers have arrived. The time limit applies to each wait for the network.
        Raises SignalboxError unless the status is 2xx.
        """
        headers = {"Accept": "application/json", **self._headers, **request.headers}
        body = None
        if request.body is not None:
            body = json.dumps(request.body, allow_nan=False).encode()
            headers["Content-Type"] = "application/json"
        query = urlencode({name: _text(v) for name, v in request.query.items() if v is not None}, doseq=True)
        url = self._base + request.path + ("?" + query if query else "")
        sent = {name: value for name, value in headers.items() if value is not None}
        try:
            response: HTTPResponse = self._opener.open(
                urllib.request.Request(url, body, sent, method=request.method), timeout=timeout or self._timeout
            )
            return response
        except urllib.error.HTTPError as error:
            with error:
                raise to_error(error.code, error.headers, _problem(error)) from None
        except (OSError, HTTPException) as error:
            raise self.unreachable(error) from error

    def call(self, request: Request) -> Any:
        """Returns the parsed JSON of the response, or None for an empty body. Raises SignalboxError."""
        with self.open(request, self._timeout + request.wait) as response:
            try:
                text = response.read()
            except (OSError, HTTPException) as error:
                raise self.unreachable(error) from error
            try:
                return json.loads(text) if text else None
            except ValueError:
                raise to_error(response.status, response.headers, {}) from None

    def unreachable(self, error: Exception) -> SignalboxError:
        reason = getattr(error, "reason", error)
        if isinstance(reason, TimeoutError) or "timed out" in str(reason):
            why = "no answer in time"
        else:
            why = getattr(reason, "strerror", None) or type(reason).__name__
        return SignalboxError(0, "unreachable", f"The service at {self._base} cannot be reached: {why}.")


def _checked_url(url: str) -> str:
    """
    Returns the URL without the slashes at its end. Raises ValueError for one that can never work, so that no request is
    retried for it, without the URL, because a password in it would be part of each error.
    """
    if re.search(r"[\s\x00-\x1f\x7f\\]", url):
        raise ValueError("url must not contain spaces, control characters or backslashes.")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise ValueError("url must have a port from 1 to 65535, and an IPv6 address in brackets.") from None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("url must begin with http:// or https:// and name a host.")
    try:
        parts.hostname.encode("idna")
    except UnicodeError:
        raise ValueError("url must name a host whose labels have 1 to 63 characters.") from None
    if parts.username is not None or "?" in url or "#" in url:
        raise ValueError("url must not contain a user name, a query or a fragment; pass the token as `token`.")
    if port == 0:
        raise ValueError("url must have a port from 1 to 65535, and an IPv6 address in brackets.")
    return url.rstrip("/")


def path_segment(identifier: str) -> str:
    """
    Encodes an identifier as one segment of a path, with its leading slash. Raises SignalboxError for "", "." and "..",
    which servers would resolve to another path.
    """
    if identifier in ("", ".", ".."):
        raise SignalboxError(400, "invalid_query", f'No URL can carry "{identifier}".')
    return "/" + quote(str(identifier), safe="")


def bearer(token: str | None, name: str) -> str | None:
    """Returns the header. Raises ValueError for a token that no header can carry, without its text."""
    if token and not (token.isascii() and token.isprintable()):
        raise ValueError(f"{name} must consist of printable ASCII characters.")
    return f"Bearer {token}" if token else None


def to_error(status: int, headers: Any, problem: Mapping[str, Any]) -> SignalboxError:
    """
    Converts an error response. A response without a problem's `code` comes from another server at this address. The error
    for a redirect names the new address without its user and query.
    """
    title = problem.get("title") or f"The response {_origin_of(status, headers)}: check the URL."
    return SignalboxError(
        status,
        problem.get("code") or "unexpected_answer",
        problem.get("detail") or title,
        problem.get("errors") or (),
        _retry_after(headers.get("Retry-After")),
    )


def _origin_of(status: int, headers: Any) -> str:
    location = headers.get("Location") if 300 <= status < 400 else None
    if not location:
        return f"is not from Signalbox (status {status})"
    return "redirects to " + re.sub(r"(?<=//)[^/]*@|[?#].*", "", location, flags=re.DOTALL)


def _problem(response: Any) -> dict[str, Any]:
    try:
        problem = json.loads(response.read())
    except (OSError, HTTPException, ValueError):
        return {}
    return problem if isinstance(problem, dict) else {}


def _retry_after(value: str | None) -> float:
    """Parses `Retry-After`, which holds seconds or a date."""
    try:
        seconds = float(value or 0)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(str(value)).timestamp() - time.time()
        except (TypeError, ValueError, OverflowError):
            return 0.0
    return max(0.0, seconds) if math.isfinite(seconds) else 0.0


def _text(value: Any) -> Any:
    """Converts the value of a query parameter: datetimes to ISO 8601, booleans as JSON."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_text(one) for one in value]
    return value.isoformat() if hasattr(value, "isoformat") else value
