"""The background thread of a client, which sends the queues of its jobs and steps."""

from __future__ import annotations

import atexit
import logging
import os
import threading
import time
import weakref
from concurrent.futures import Future, wait
from typing import Any, Callable

from ._errors import closed_error, is_transient
from ._queue import Entry, Pace, Report, ReportQueue, backoff

logger = logging.getLogger("signalbox_client")

OnError = Callable[[BaseException], object]

#: How long the thread waits for a further report before it ends; the next report starts another.
_IDLE_SECONDS = 5.0
#: Maximum single wait of the thread: an even longer one could overflow the platform's timer.
_MAX_WAIT_SECONDS = 3600.0


def log_error(error: BaseException) -> None:
    """Logs the error: the default `on_error`."""
    logger.warning("%s", error)


class Sender:
    """
    Sends reports one after another, those of the queue that is due first. A queue that waits for a retry does not hold
    up the others. The lock `_changed` guards the queues and is never held during a request or a callback.
    """

    def __init__(self, retry_for: float | None, on_error: OnError | None, pace: Pace) -> None:
        self.pace = pace
        #: How long reports and the creation of jobs are retried.
        self.retry_for = float("inf") if retry_for is None else retry_for
        self.closed = False
        self._on_error = on_error or log_error
        self._changed = threading.Condition()
        self._pending: set[ReportQueue] = set()
        self._thread: threading.Thread | None = None
        #: The queue of the last report that was rejected while nobody waited for it.
        self._last_rejected: ReportQueue | None = None
        with _registry_lock:
            _senders.add(self)

    def report_error(self, error: BaseException) -> None:
        """Passes an error that no call raises to `on_error`. An exception of `on_error` is logged."""
        try:
            self._on_error(error)
        except Exception:
            logger.exception("on_error failed")

    def add(self, queue: ReportQueue, report: Report) -> None:
        """Adds a report that nobody waits for; it is sent after its minimum interval."""
        with self._changed:
            if not self.closed:
                queue.append(report, False, None)
                self._wake(queue)

    def send(self, queue: ReportQueue, report: Report, is_final: bool = False) -> Future[None]:
        """
        Sends a report. The future resolves once the service has accepted it, or gets the error. Cancelling the future
        ends the wait, not the report. An empty report waits for those before it.
        """
        future: Future[None] = Future()
        with self._changed:
            if self.closed:
                future.set_exception(closed_error())
            else:
                queue.append(report, is_final, future)
                self._wake(queue)
        return future

    def take_rejection(self, queue: ReportQueue) -> BaseException | None:
        """Returns why the last report without a waiter was rejected, once."""
        with self._changed:
            rejection, queue.rejection = queue.rejection, None
        return rejection

    def wait(self, future: Future[None], timeout: float | None = None) -> None:
        """Waits for a report. Raises its error, or TimeoutError; the report is then still sent."""
        try:
            self._wait_all([future], timeout)
            if not future.done():
                raise TimeoutError(f"The service has not accepted the report within {timeout} s; it is still sent.")
            future.result()
        finally:
            future.cancel()

    def sleep(self, seconds: float) -> None:
        """Waits, and raises SignalboxError when the client is closed meanwhile."""
        with self._changed:
            deadline = time.monotonic() + seconds
            while not self.closed and (left := deadline - time.monotonic()) > 0:
                self._changed.wait(min(left, _MAX_WAIT_SECONDS))
        self.raise_if_closed()

    def raise_if_closed(self) -> None:
        if self.closed:
            raise closed_error()

    def start_flush(self) -> list[Future[None]]:
        """Makes all reports due now. Returns a future for each queue that has some."""
        with self._changed:
            queues = list(self._pending)
        return [self.send(queue, {}) for queue in queues]

    def close(self, timeout: float) -> None:
        """Waits for unsent reports, discards the rest, and raises the error of a report that was lost."""
        futures = self.start_flush()
        self._wait_all(futures, timeout)
        self.finish_close(futures)

    def finish_close(self, futures: list[Future[None]]) -> None:
        """Closes the sender after the wait for `futures`. Raises the first error, the others go to `on_error`."""
        errors = [error for one in futures if one.done() and not one.cancelled() and (error := one.exception())]
        if self._last_rejected and (rejection := self.take_rejection(self._last_rejected)):
            errors.append(rejection)
        reason = closed_error()
        with self._changed:
            self.closed = True
            is_late = bool(self._pending)
            lost = [queue for queue in self._pending if queue.reject_all(reason)]
            self._pending.clear()
            self._changed.notify_all()
        for error in errors[1:] + [reason for _ in lost]:
            self.report_error(error)
        if errors or is_late:
            raise errors[0] if errors else reason

    def flush_at_exit(self) -> None:
        """Waits for unsent reports when the interpreter exits, but not for progress alone while the service is unavailable."""
        with self._changed:
            holds_final = any(queue.holds_final for queue in self._pending)
        limit = self.pace.close_wait if holds_final else self.pace.progress_wait
        self._wait_all(self.start_flush(), limit)

    def _wait_all(self, futures: list[Future[None]], timeout: float | None) -> None:
        self._send_without_thread(lambda: all(one.done() for one in futures), timeout)
        wait(futures, timeout)

    def _wake(self, queue: ReportQueue) -> None:
        if queue.is_idle:
            return
        self._pending.add(queue)
        self._changed.notify_all()
        if self._thread is None or not self._thread.is_alive():
            self._thread = threading.Thread(target=self._run, name="signalbox-client", daemon=True)
            try:
                self._thread.start()
            except RuntimeError:  # The interpreter is about to exit: the caller that waits sends it.
                self._thread = None

    def _run(self) -> None:
        """Sends reports until none has come for some seconds."""
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._pending or self.closed, _IDLE_SECONDS)
                if not self._pending:
                    if self._thread is threading.current_thread():
                        self._thread = None
                    return
            self._send_next(_MAX_WAIT_SECONDS)

    def _send_without_thread(self, is_done: Callable[[], bool], timeout: float | None) -> None:
        """Sends in the calling thread if it is the background thread (in `on_error`), or if there is none."""
        deadline = time.monotonic() + (_MAX_WAIT_SECONDS if timeout is None else timeout)
        while self._thread in (None, threading.current_thread()) and not is_done() and time.monotonic() < deadline:
            self._send_next(deadline - time.monotonic())

    def _send_next(self, max_wait: float) -> None:
        """Waits for the next report that is due, at most `max_wait`, and sends it."""
        with self._changed:
            if not self._pending:
                return
            now = time.monotonic()
            # The queue that has waited longest, so that frequent reports of one step hold up no other.
            queue = min(self._pending, key=lambda one: (max(one.due_at(), now), one.last_sent_at))
            if queue.due_at() > now:
                self._changed.wait(min(queue.due_at() - now, max_wait, _MAX_WAIT_SECONDS))
                return
            entry = queue.take(now)
        try:
            queue.put(entry.report)
        except Exception as error:
            self._fail(queue, entry, error)
        else:
            with self._changed:
                if queue.in_flight is entry:
                    queue.accept()
                self._forget_if_idle(queue)

    def _fail(self, queue: ReportQueue, entry: Entry, error: Exception) -> None:
        with self._changed:
            if queue.in_flight is not entry:  # The client was closed.
                return
            retry_at = time.monotonic() + backoff(error, queue.tries, self.pace)
            is_late = entry.sent_at is not None and retry_at - entry.sent_at > self.retry_for
            is_reported = True
            if is_transient(error) and not is_late:
                queue.retry(retry_at)
            else:
                is_reported = queue.reject(error)
                self._last_rejected = queue if is_reported else self._last_rejected
            self._forget_if_idle(queue)
        if is_reported:
            self.report_error(error)

    def _forget_if_idle(self, queue: ReportQueue) -> None:
        if queue.is_idle:
            self._pending.discard(queue)

    def lock(self) -> None:
        self._changed.acquire()

    def unlock(self) -> None:
        self._changed.release()

    def reset_in_child(self) -> None:
        """Starts again in a forked child: the thread is the parent's, and so are the unsent reports."""
        self._changed = threading.Condition()
        self._thread = None
        for queue in self._pending:
            queue.forget()
        self._pending.clear()


_senders: weakref.WeakSet[Sender] = weakref.WeakSet()
_registry_lock = threading.Lock()
#: The senders that are locked during a fork.
_locked: list[Sender] = []


def _before_fork() -> None:
    _registry_lock.acquire()
    _locked[:] = list(_senders)
    for sender in _locked:
        sender.lock()


def _after_fork_in_parent() -> None:
    for sender in _locked:
        sender.unlock()
    _locked.clear()
    _registry_lock.release()


def _after_fork_in_child() -> None:
    for sender in _locked:
        sender.reset_in_child()
    _locked.clear()
    _registry_lock.release()


def _flush_at_exit(*_args: Any) -> None:
    for sender in list(_senders):
        sender.flush_at_exit()


atexit.register(_flush_at_exit)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork_in_parent, after_in_child=_after_fork_in_child)
