"""When a failed request is tried again, for the clients with and without asyncio."""

from __future__ import annotations

import time
from typing import Any

from ._errors import is_transient
from ._http import Connection, Request
from ._queue import backoff
from ._sender import Sender


class Tries:
    """The tries of one request, which must be idempotent unless `retry_for` is 0."""

    def __init__(self, sender: Sender, retry_for: float) -> None:
        self._sender = sender
        self._ends_at = time.monotonic() + retry_for
        self._count = 0

    def delay_after(self, error: Exception) -> float:
        """Returns the delay before the next try. Raises the error when there is none."""
        delay = backoff(error, self._count, self._sender.pace)
        if not is_transient(error) or time.monotonic() + delay > self._ends_at:
            raise error
        self._count += 1
        self._sender.report_error(error)
        return delay


def call_with_retry(connection: Connection, sender: Sender, request: Request, retry_for: float) -> Any:
    """Sends a request and repeats it after transient errors. Raises SignalboxError."""
    tries = Tries(sender, retry_for)
    while True:
        try:
            return connection.call(request)
        except Exception as error:
            delay = tries.delay_after(error)
        sender.sleep(delay)
