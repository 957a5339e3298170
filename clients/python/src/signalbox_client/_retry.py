"""When a failed request is tried again, for the clients with and without asyncio."""

from __future__ import annotations

import time
from typing import Any

from . import _requests
from ._errors import is_transient
from ._http import Connection, Request
from ._queue import backoff
from ._sender import Sender


class Tries:
    """The tries of one request, which must be idempotent unless `retry_for` is 0."""

    def __init__(self, sender: Sender, retry_for: float, can_be_held: bool = False) -> None:
        """`can_be_held`: the time that the first try takes does not count, because the service may hold it."""
        self._sender = sender
        self._retry_for = retry_for
        self._ends_at = time.monotonic() + retry_for
        self._can_be_held = can_be_held
        self._count = 0

    def delay_after(self, error: Exception) -> float:
        """Returns the delay before the next try. Raises the error when there is none."""
        if self._can_be_held and self._count == 0:
            self._ends_at = time.monotonic() + self._retry_for
        delay = backoff(error, self._count, self._sender.pace)
        if not is_transient(error) or time.monotonic() + delay > self._ends_at:
            raise error
        self._count += 1
        self._sender.report_error(error)
        return delay


def call_with_retry(connection: Connection, sender: Sender, request: Request, retry_for: float) -> Any:
    """Sends a request and repeats it after transient errors. Raises SignalboxError."""
    tries = Tries(sender, retry_for, request.wait > 0)
    while True:
        try:
            return connection.call(request)
        except Exception as error:
            delay = tries.delay_after(error)
        sender.sleep(delay)


def wait_for_end(connection: Connection, sender: Sender, request: Request, timeout: float | None) -> Any:
    """Reads a record until it has ended. Raises TimeoutError after `timeout` seconds, and SignalboxError."""
    ends_at = time.monotonic() + (float("inf") if timeout is None else timeout)
    while True:
        asked_at = time.monotonic()
        left = max(0.0, ends_at - asked_at)
        waiting = _requests.waiting(request, left)
        record = call_with_retry(connection, sender, waiting, min(sender.retry_for, left))
        if _requests.has_ended(record):
            return record
        now = time.monotonic()
        if now >= ends_at:
            raise TimeoutError(f"{request.path} has not ended within {timeout} s.")
        sender.sleep(max(0.0, asked_at + _requests.MIN_WAIT_INTERVAL - now))
