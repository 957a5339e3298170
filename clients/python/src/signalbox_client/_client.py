"""The client for code without asyncio."""

from __future__ import annotations

import os
import ssl
from collections.abc import Iterator, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal

from . import _requests
from ._gates import Gates
from ._http import Connection, Request, bearer
from ._queue import Pace
from ._options import AgentRequest, Assignment, Event, JobFilter
from ._records import JobRecord, RunRecord, StepRecord
from ._reporter import Job, Step
from ._retry import call_with_retry, wait_for_end
from ._sender import OnError, Sender
from ._watch import watch, watch_job

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack

Topic = Literal["jobs", "runs", "deliveries"]


def own_job(job_id: str | None) -> str:
    """Returns the id, or that of the job of the agent run in which the program runs."""
    return os.environ.get("SIGNALBOX_JOB_ID", "") if job_id is None else job_id


class BaseClient:
    """The settings of a client."""

    def __init__(
        self,
        url: str | None = None,
        token: str | None = None,
        *,
        hook_token: str | None = None,
        hooks_path: str = "/hooks",
        timeout: float = 30.0,
        retry_for: float | None = None,
        on_error: OnError | None = None,
        ssl_context: ssl.SSLContext | None = None,
        pace: Pace = Pace(),
    ) -> None:
        """
        `url` is the service's address (the environment's SIGNALBOX_URL by default), `token` its `server.apiToken`
        (SIGNALBOX_API_TOKEN, or in an agent run SIGNALBOX_TOKEN, the token of the run) and `hook_token` its `hooks.token` (SIGNALBOX_HOOKS_TOKEN), where it has them.

        `timeout` is the longest wait for the network, in seconds. `retry_for` is how long a failed request is retried
        while the service is unavailable: by default reports, the creation of jobs and waits are retried until they
        succeed, and other calls are not. A POST is never retried. `on_error` receives the errors that no call raises: those of
        retried requests (`is_transient`), and those of rejected reports that nobody waited for. By default they are
        logged as warnings of the logger `signalbox_client`. `pace` shortens the client's intervals in tests.
        """
        address = url or os.environ.get("SIGNALBOX_URL")
        if not address:
            raise ValueError("`url` is required: pass it, or set SIGNALBOX_URL.")
        own = os.environ.get("SIGNALBOX_TOKEN") if address == os.environ.get("SIGNALBOX_URL") else None
        api_token = token or os.environ.get("SIGNALBOX_API_TOKEN") or own
        self._connection = Connection(address, api_token, timeout, ssl_context)
        self._hook_authorization = bearer(hook_token or os.environ.get("SIGNALBOX_HOOKS_TOKEN"), "hook_token")
        self._hooks_path = hooks_path
        self._retry_for = retry_for
        self._sender = Sender(retry_for, on_error, pace)

    def _retry_for_call(self, request: Request) -> float:
        return 0.0 if request.method == "POST" else self._retry_for or 0.0

    def _hook(self, name: str, body: Mapping[str, Any], idempotency_key: str | None) -> Request:
        return _requests.hook(self._hooks_path, name, body, self._hook_authorization, idempotency_key)

    def _is_closed(self) -> bool:
        return self._sender.closed


class Client(BaseClient):
    """
    Reports on jobs and steps, and makes the other calls of the API. One background thread sends the reports. Use it as
    a context manager, or call close(); otherwise the interpreter's exit sends what is unsent. Threads may share it.
    """

    @property
    def jobs(self) -> Jobs:
        return Jobs(self)

    @property
    def gates(self) -> Gates:
        return Gates(self)

    @property
    def runs(self) -> Runs:
        return Runs(self)

    @property
    def hooks(self) -> Hooks:
        return Hooks(self)

    def job(self, job_id: str | None = None) -> Job:
        """
        Returns a reporter that creates a job and reports on it. Sends nothing by itself. Without an id it is the job of the
        agent run in which the program runs (SIGNALBOX_JOB_ID).
        """
        return Job(self._connection, self._sender, own_job(job_id))

    def step(self, assignment: Assignment) -> Step:
        """Returns a reporter for a step that an orchestrator assigned, in this process or in another."""
        return Step(self._connection, self._sender, assignment["jobId"], assignment)

    def call(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        body: Mapping[str, Any] | None = None,
    ) -> Any:
        """Makes any call of the API, such as `call("GET", "/api/runs", query={"status": "failed"})`."""
        return self._call(Request(method, path, query or {}, body))

    def watch(
        self, *, topics: Sequence[Topic] | None = None, job: str | None = None, **filter: Unpack[JobFilter]
    ) -> Iterator[Event]:
        """
        Yields live events, all topics by default, until the client is closed; with `job` those of one job and its
        steps. Reconnects by itself. To show a current state, wait for `state` with `live: True`, read the state over
        the API, then apply the events. Raises SignalboxError when the service refuses the stream.
        """
        return watch(self._connection, self._sender, topics, job, dict(filter), self._is_closed)

    def watch_job(self, job_id: str) -> Iterator[JobRecord]:
        """
        Yields the job with its steps as it is now, and at each change, until it has ended; the last one has the output.
        Raises SignalboxError `job_not_found`, also when the job is deleted meanwhile.
        """
        return watch_job(self._connection, self._sender, job_id, self._is_closed)

    def close(self, timeout: float | None = None) -> None:
        """
        Waits at most `timeout` seconds (10 by default) for unsent reports, and discards the rest. Raises SignalboxError
        when a report was rejected or discarded.
        """
        self._sender.close(self._sender.pace.close_wait if timeout is None else timeout)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Closes the client. An error of close() does not replace the error of the block."""
        try:
            self.close()
        except Exception as loss:
            if error is None:
                raise
            self._sender.report_error(loss)

    def _call(self, request: Request) -> Any:
        return call_with_retry(self._connection, self._sender, request, self._retry_for_call(request))

    def _wait(self, request: Request, timeout: float | None) -> Any:
        return wait_for_end(self._connection, self._sender, request, timeout)

    def _rows(self, request: Request | None, name: str) -> Iterator[Any]:
        while request:
            page = self._call(request)
            yield from page[name]
            request = _requests.next_page(request, page)


class Jobs:
    """The calls that read, change and delete jobs."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def get(self, job_id: str, *, include_steps: bool = False) -> JobRecord:
        """Returns a job. Raises SignalboxError `job_not_found`."""
        job: JobRecord = self._client._call(_requests.get_job(job_id, include_steps))
        return job

    def wait(self, job_id: str, *, timeout: float | None = None) -> JobRecord:
        """
        Returns the job once it has ended, however long that takes, or raises TimeoutError after `timeout` seconds.
        Continues after a restart of the service. Raises SignalboxError `job_not_found`, also when the job is deleted
        meanwhile. The request of a client that was closed ends within 25 s.
        """
        job: JobRecord = self._client._wait(_requests.get_job(job_id, False), timeout)
        return job

    def list(
        self, *, fields: Sequence[str] | None = None, page_size: int | None = None, **filter: Unpack[JobFilter]
    ) -> Iterator[JobRecord]:
        """
        Yields the jobs that match the filter, page by page, with the given fields (by the service's names) or all.
        """
        return self._client._rows(_requests.list_jobs(filter, fields, page_size), "jobs")

    def cancel(self, job_id: str, *, reason: str | None = None, force: bool = False) -> JobRecord:
        """
        Requests that a running job be cancelled; with `force` it fails at once. Raises SignalboxError `job_ended`.
        """
        job: JobRecord = self._client._call(_requests.cancel_job(job_id, reason, force))
        return job

    def delete(self, job_id: str) -> None:
        """Deletes a job with its steps. Raises SignalboxError `job_not_found`."""
        self._client._call(_requests.delete_job(job_id))

    def delete_all(self, *, all: bool = False, **filter: Unpack[JobFilter]) -> int:
        """
        Deletes all jobs that match the filter; without a filter every job, which needs `all=True`. Returns the number
        of deleted jobs.
        """
        deleted: int = self._client._call(_requests.delete_jobs(all, filter))["deleted"]
        return deleted

    def step(self, job_id: str, step_key: str) -> StepRecord:
        """Returns a step. Raises SignalboxError `step_not_found`."""
        step: StepRecord = self._client._call(_requests.get_step(job_id, step_key))
        return step

    def steps(
        self, job_id: str, *, fields: Sequence[str] | None = None, page_size: int | None = None
    ) -> Iterator[StepRecord]:
        """Yields the steps of a job, oldest first."""
        return self._client._rows(_requests.list_steps(job_id, fields, page_size), "steps")


class Runs:
    """The calls that read the runs of agents."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def get(self, run_id: str) -> RunRecord:
        """Returns a run. Raises SignalboxError `run_not_found`."""
        run: RunRecord = self._client._call(_requests.get_run(run_id))
        return run

    def wait(self, run_id: str, *, timeout: float | None = None) -> RunRecord:
        """Returns the run with its reply once it has ended. See `Jobs.wait`."""
        run: RunRecord = self._client._wait(_requests.get_run(run_id), timeout)
        return run


class Hooks:
    """The calls of the webhook gateway. A repeated call with the same idempotency key has no further effect."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def wake(
        self, text: str, *, mode: Literal["now", "next-heartbeat"] = "now", idempotency_key: str | None = None
    ) -> dict[str, Any]:
        """Queues an event for the main session. Returns its `eventId`."""
        return self.send("wake", {"text": text, "mode": mode}, idempotency_key=idempotency_key)

    def agent(
        self, message: str, *, idempotency_key: str | None = None, **request: Unpack[AgentRequest]
    ) -> dict[str, Any]:
        """Requests a turn of an agent. Returns its `runId` and `sessionKey`."""
        return self.send("agent", {"message": message, **_requests.wire(request)}, idempotency_key=idempotency_key)

    def send(self, name: str, body: Mapping[str, Any], *, idempotency_key: str | None = None) -> dict[str, Any]:
        """Calls any hook by its path below `hooks.path`, such as `ci/build`."""
        response: dict[str, Any] = self._client._call(self._client._hook(name, body, idempotency_key))
        return response
