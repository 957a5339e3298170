"""Blocking calls on the running loop."""

from __future__ import annotations

import asyncio
import threading
import time
from concurrent.futures import Future
from typing import Any, Callable, TypeVar

from . import _requests
from ._http import Connection, Request
from ._retry import Tries
from ._sender import Sender

T = TypeVar("T")


async def in_thread(work: Callable[[], T]) -> T:
    """
    Does blocking work in a thread of its own. Unlike a thread of an executor it does not hold up the end of the loop or
    of the interpreter when the task is cancelled.
    """
    future: Future[T] = Future()
    future.set_running_or_notify_cancel()

    def run() -> None:
        try:
            future.set_result(work())
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=run, name="signalbox-call", daemon=True).start()
    return await asyncio.wrap_future(future)


async def call_with_retry(connection: Connection, sender: Sender, request: Request, retry_for: float) -> Any:
    """Sends a request and repeats it after transient errors. Raises SignalboxError."""
    tries = Tries(sender, retry_for, request.wait > 0)
    while True:
        try:
            return await in_thread(lambda: connection.call(request))
        except Exception as error:
            delay = tries.delay_after(error)
        await asyncio.sleep(delay)
        sender.raise_if_closed()


async def wait_for_end(connection: Connection, sender: Sender, request: Request) -> Any:
    """Reads a record until it has ended. Raises SignalboxError."""
    waiting = _requests.waiting(request, float("inf"))
    while True:
        asked_at = time.monotonic()
        record = await call_with_retry(connection, sender, waiting, sender.retry_for)
        if _requests.has_ended(record):
            return record
        await asyncio.sleep(max(0.0, asked_at + _requests.MIN_WAIT_INTERVAL - time.monotonic()))
        sender.raise_if_closed()
