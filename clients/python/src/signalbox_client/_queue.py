"""
The queue of reports of one job or step. A report is in one of these states:

- queued: waits in `_queue` for its turn and for its minimum interval; later reports are merged into it where that
  loses no status;
- in flight: its request is under way; there is at most one, `in_flight`;
- accepted: the service has stored it; its waiters are resolved;
- rejected: the service refused it, retries ran out, or the client was closed; its waiters get the error.

A transient error moves a report from in flight back to queued, merged with what was queued meanwhile. The queue does
no input or output and reads no clock: its sender holds a lock, passes the time, and sends what `take` returns.
"""

from __future__ import annotations

import random
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, Callable

#: Maximum characters of the lines of one report, which take at most 256 KiB; the newest are kept.
MAX_LOG_CHARS = 65_536

#: The fields to change on the service; absent fields stay as they are.
Report = dict[str, Any]


@dataclass(frozen=True)
class Pace:
    """The client's constants, which its tests shorten. All times are seconds."""

    #: Smallest change of progress, in points, that is sent at the short interval.
    visible_points: float = 5.0
    #: Minimum intervals between the starts of two requests, by what the later one reports.
    progress_interval: float = 0.1
    message_interval: float = 1.0
    other_interval: float = 5.0
    #: Maximum delay after the first failed try; it doubles with each further one.
    first_backoff: float = 0.2
    max_backoff: float = 10.0
    #: Maximum wait of close(), of the interpreter's exit, and of a `with` block that is interrupted.
    close_wait: float = 10.0
    #: Maximum wait of the interpreter's exit when only progress is unsent.
    progress_wait: float = 2.0


def backoff(error: Exception, tries: int, pace: Pace) -> float:
    """Returns the delay before the next try: exponential with full jitter, added to the service's `Retry-After`."""
    asked: float = getattr(error, "retry_after", 0.0)
    return asked + random.uniform(0, min(pace.max_backoff, pace.first_backoff * 2.0 ** min(tries, 30)))


@dataclass(eq=False)
class Entry:
    report: Report
    #: A completion or a failure: later reports are not merged into it.
    is_final: bool
    waiters: list[Future[None]]
    #: Minimum time between the start of the previous request and this one.
    interval: float
    #: When it was first sent; None again if a caller has begun to wait for it since.
    sent_at: float | None = None

    def has_waiter(self) -> bool:
        return any(not waiter.done() for waiter in self.waiters)

    def resolve(self, error: BaseException | None = None) -> None:
        for waiter in self.waiters:
            if waiter.done() or not waiter.set_running_or_notify_cancel():
                continue
            if error is None:
                waiter.set_result(None)
            else:
                waiter.set_exception(error)


@dataclass(eq=False)
class ReportQueue:
    """
    Sends one report at a time. While a report is in flight or the service is unavailable, later reports are merged into one
    that holds the newest value of each field. Final reports are never merged away, not even repeated ones, and are
    sent after everything before them. Reports after a final one are dropped until one sets `status` again. The queue
    holds at most one report besides the final ones.
    """

    #: Sends one report to the service.
    put: Callable[[Report], object]
    #: Whether the first report is given the status `running` if it has none.
    starts_running: bool
    pace: Pace
    in_flight: Entry | None = None
    #: Failed tries of the current report.
    tries: int = 0
    #: Why the last report without a waiter was rejected; cleared by the next accepted report.
    rejection: BaseException | None = None
    _queue: list[Entry] = field(default_factory=list)
    #: The last given value of each field, so that unchanged values are not sent again.
    _latest: Report = field(default_factory=dict)
    _sent_progress: float = 0.0
    last_sent_at: float = float("-inf")
    #: The end of the backoff.
    _not_before: float = float("-inf")

    def append(self, report: Report, is_final: bool, waiter: Future[None] | None) -> None:
        waiters = [waiter] if waiter else []
        changes = report if is_final else self._changes_in(report)
        last = self._queue[-1] if self._queue else None
        if changes:
            self._latest = {**self._latest, **{name: changes[name] for name in changes if name != "log"}}
            entry = Entry(changes, is_final, waiters, self._interval_of(changes))
            merged = last and _merge(last, entry)
            if merged:
                self._queue.pop()
            self._queue.append(merged or entry)
        elif previous := last or self.in_flight:
            previous.waiters.extend(waiters)
            if waiters:
                previous.sent_at = None  # its whole time, as for a merged report
        else:
            Entry({}, False, waiters, 0).resolve()

    def _changes_in(self, report: Report) -> Report | None:
        """Returns what to send, or None when nothing has changed or the work has already ended."""
        status = self._latest.get("status")
        if not report or (status not in (None, "running") and "status" not in report):
            return None
        if self.starts_running and status is None:
            return {"status": "running", **report}
        has_news = any(name == "output" or self._latest.get(name) != value for name, value in report.items())
        return report if has_news else None

    def _interval_of(self, report: Report) -> float:
        if "status" in report:
            return 0.0
        if "progress" not in report:
            return self.pace.message_interval if "message" in report or "log" in report else self.pace.other_interval
        moved = abs(report["progress"] - self._sent_progress)
        return self.pace.progress_interval if moved >= self.pace.visible_points else self.pace.other_interval

    @property
    def is_idle(self) -> bool:
        return not self._queue and self.in_flight is None

    @property
    def holds_final(self) -> bool:
        """Whether an unsent report is a completion, a failure, or awaited."""
        entries = [*self._queue, *([self.in_flight] if self.in_flight else [])]
        return any(entry.is_final or entry.has_waiter() for entry in entries)

    def due_at(self) -> float:
        """Returns when to send the next report: never while there is none or another is in flight."""
        if self.in_flight or not self._queue:
            return float("inf")
        is_urgent = len(self._queue) > 1 or any(entry.has_waiter() for entry in self._queue)
        return max(self._not_before, 0.0 if is_urgent else self.last_sent_at + self._queue[0].interval)

    def take(self, now: float) -> Entry:
        """Moves the next report from queued to in flight."""
        entry = self.in_flight = self._queue.pop(0)
        self.last_sent_at = now
        self._sent_progress = entry.report.get("progress", self._sent_progress)
        entry.sent_at = now if entry.sent_at is None else entry.sent_at
        return entry

    def accept(self) -> None:
        entry, self.in_flight = self.in_flight, None
        self.tries = 0
        self.rejection = None
        if entry:
            entry.resolve()

    def retry(self, at: float) -> None:
        """Moves the report in flight back to the queue."""
        entry, self.in_flight = self.in_flight, None
        self.tries += 1
        self._not_before = at
        if entry:
            merged = _merge(entry, self._queue[0]) if self._queue else None
            self._queue[: 1 if merged else 0] = [merged or entry]

    def reject(self, error: BaseException) -> bool:
        """Gives up the report in flight. Returns whether nobody waited for it."""
        entry, self.in_flight = self.in_flight, None
        self.tries = 0
        return entry is not None and self._reject(entry, error)

    def reject_all(self, error: BaseException) -> bool:
        """Gives up all reports. Returns whether nobody waited for one of them."""
        entries, self._queue = self._queue, []
        return any([self.reject(error), *[self._reject(entry, error) for entry in entries]])

    def _reject(self, entry: Entry, error: BaseException) -> bool:
        self._latest = {}
        is_lost = not entry.has_waiter()
        if is_lost:
            self.rejection = error
        entry.resolve(error)
        return is_lost

    def forget(self) -> None:
        """Drops all reports silently, in a forked child, because the parent sends them."""
        self._queue, self.in_flight, self.tries, self._not_before = [], None, 0, float("-inf")


def _merge(earlier: Entry, later: Entry) -> Entry | None:
    """Merges two reports into one that leaves the same state; None when that would skip a status."""
    if earlier.is_final or (later.is_final and "status" in earlier.report):
        return None
    log = earlier.report.get("log", "") + later.report.get("log", "")
    return Entry(
        {**earlier.report, **later.report, **({"log": log[-MAX_LOG_CHARS:]} if log else {})},
        later.is_final,
        [*earlier.waiters, *later.waiters],
        min(earlier.interval, later.interval),
        # A report that a caller waits for has its whole time, however long the report before it has been retried.
        later.sent_at if later.waiters else earlier.sent_at,
    )
