"""Live events of the service."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from http.client import HTTPException
from typing import Any, Callable, cast

from ._errors import SignalboxError
from ._http import Connection, Request, path_segment, to_error
from ._queue import backoff
from ._options import Event
from ._records import JobRecord
from ._requests import JOBS, filter_query, get_job
from ._retry import call_with_retry
from ._sender import Sender

#: Maximum silence before a reconnect: three times the interval of the service's keep-alive comments.
_SILENCE_SECONDS = 45.0


def watch(
    connection: Connection,
    sender: Sender,
    topics: Sequence[str] | None,
    job_id: str | None,
    filter: dict[str, Any],
    is_stopped: Callable[[], bool],
) -> Iterator[Event]:
    """
    Yields live events. Reconnects after an error or a long silence and resumes after the last event. Looks at
    `is_stopped` with each line, keep-alive comments included, which arrive every 15 s.
    """
    path = "/api/events" if job_id is None else f"{JOBS}{path_segment(job_id)}/events"
    query = {**filter_query(filter), "topic": topics}
    last_id: str | None = None
    tries = 0
    while not is_stopped():
        failure = SignalboxError(0, "unreachable", "The service ended the stream of events.")
        headers = {"Accept": "text/event-stream", "Last-Event-ID": last_id}
        try:
            with connection.open(Request("GET", path, query, headers=headers), _SILENCE_SECONDS) as response:
                if "event-stream" not in (response.headers.get("Content-Type") or ""):
                    raise to_error(response.status, response.headers, {})
                for kind, data, event_id in read_events(response, last_id):
                    last_id = event_id
                    if is_stopped():
                        return
                    tries = 0
                    if data is not None:
                        yield Event(kind, json.loads(data))
        except SignalboxError as error:
            if not error.is_transient:
                raise
            failure = error
        except (OSError, HTTPException) as error:
            failure = connection.unreachable(error)
        if is_stopped():
            return
        sender.report_error(failure)
        if tries == 0:
            yield Event("state", {"live": False, "reason": "disconnected"})
        try:
            sender.sleep(backoff(failure, tries, sender.pace))
        except SignalboxError:  # The client was closed.
            return
        tries += 1


def watch_job(
    connection: Connection, sender: Sender, job_id: str, is_stopped: Callable[[], bool]
) -> Iterator[JobRecord]:
    """Yields the current state of a job and each later one, until it has ended."""
    for event in watch(connection, sender, None, job_id, {}, is_stopped):
        if event.type == "job_removed":
            raise SignalboxError(404, "job_not_found", "The job was deleted.")
        if event.type == "state" and "reason" in event.data:
            continue
        # The events lack the outputs, and one of a step is no complete state: a read has both.
        job: JobRecord = call_with_retry(connection, sender, get_job(job_id, include_steps=True), float("inf"))
        yield job
        if job["status"] != "running":
            return


def read_events(lines: Iterable[bytes], last_id: str | None = None) -> Iterator[tuple[str, str | None, str | None]]:
    """
    Parses a stream of server-sent events (WHATWG HTML, 9.2). Yields the type, the data and the last id of each event,
    and no data for a comment.
    """
    kind, data = "message", cast(list[str], [])
    for raw in lines:
        line = raw.decode("utf-8", "replace").rstrip("\r\n")
        name, _, value = line.partition(":")
        value = value[1:] if value.startswith(" ") else value
        if name == "event":
            kind = value
        elif name == "data":
            data.append(value)
        elif name == "id":
            last_id = value
        elif not name:  # the end of an event, or a comment
            is_end = not line
            yield kind, "\n".join(data) if is_end and data else None, last_id
            if is_end:
                kind, data = "message", []
