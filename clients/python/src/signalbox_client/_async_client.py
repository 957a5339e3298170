"""The client for asyncio."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from types import TracebackType
from typing import (
    TYPE_CHECKING,
    Any,
    Callable,
    Literal,
    TypeVar,
)

from . import _requests
from ._async_calls import call_with_retry, in_thread, wait_for_end
from ._async_reporter import AsyncJob, AsyncStep
from ._client import BaseClient, Topic, own_job
from ._http import Request
from ._options import AgentRequest, Assignment, Event, JobFilter
from ._records import GateAction, GateRecord, GateStatus, JobRecord, RunRecord, StepRecord
from ._watch import watch, watch_job

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack

T = TypeVar("T")


class AsyncClient(BaseClient):
    """
    Reports on jobs and steps, and makes the other calls of the API. Use it as an asynchronous context manager, or await
    close(); otherwise the interpreter's exit sends what is unsent.
    """

    @property
    def jobs(self) -> AsyncJobs:
        return AsyncJobs(self)

    @property
    def gates(self) -> AsyncGates:
        return AsyncGates(self)

    @property
    def runs(self) -> AsyncRuns:
        return AsyncRuns(self)

    @property
    def hooks(self) -> AsyncHooks:
        return AsyncHooks(self)

    def job(self, job_id: str | None = None) -> AsyncJob:
        """See `Client.job`."""
        return AsyncJob(self._connection, self._sender, own_job(job_id))

    def step(self, assignment: Assignment) -> AsyncStep:
        """See `Client.step`."""
        return AsyncStep(self._connection, self._sender, assignment["jobId"], assignment)

    async def call(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        body: Mapping[str, Any] | None = None,
    ) -> Any:
        """See `Client.call`."""
        return await self._call(Request(method, path, query or {}, body))

    def watch(
        self, *, topics: Sequence[Topic] | None = None, job: str | None = None, **filter: Unpack[JobFilter]
    ) -> AsyncIterator[Event]:
        """See `Client.watch`. A cancelled watch closes its connection within 15 s."""
        return self._iterate(
            lambda is_stopped: watch(self._connection, self._sender, topics, job, dict(filter), is_stopped)
        )

    def watch_job(self, job_id: str) -> AsyncIterator[JobRecord]:
        """See `Client.watch_job`."""
        return self._iterate(lambda is_stopped: watch_job(self._connection, self._sender, job_id, is_stopped))

    async def close(self, timeout: float | None = None) -> None:
        """See `Client.close`."""
        futures = self._sender.start_flush()
        waits = asyncio.gather(*[asyncio.wrap_future(future) for future in futures], return_exceptions=True)
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(waits, self._sender.pace.close_wait if timeout is None else timeout)
        self._sender.finish_close(futures)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Closes the client. An error of close() does not replace the error of the block."""
        try:
            await self.close()
        except Exception as loss:
            if error is None:
                raise
            self._sender.report_error(loss)

    async def _call(self, request: Request) -> Any:
        return await call_with_retry(self._connection, self._sender, request, self._retry_for_call(request))

    async def _wait(self, request: Request) -> Any:
        return await wait_for_end(self._connection, self._sender, request)

    async def _rows(self, request: Request | None, name: str) -> AsyncIterator[Any]:
        while request:
            page = await self._call(request)
            for row in page[name]:
                yield row
            request = _requests.next_page(request, page)

    async def _iterate(self, make: Callable[[Callable[[], bool]], Iterator[T]]) -> AsyncIterator[T]:
        """Iterates over a blocking iterator in threads."""
        stopped = threading.Event()
        rows = make(lambda: stopped.is_set() or self._is_closed())
        try:
            while True:
                row = await in_thread(lambda: next(rows, None))
                if row is None:
                    return
                yield row
        finally:
            stopped.set()


class AsyncJobs:
    """The calls that read, change and delete jobs. See `Jobs`."""

    def __init__(self, client: AsyncClient) -> None:
        self._client = client

    async def get(self, job_id: str, *, include_steps: bool = False) -> JobRecord:
        job: JobRecord = await self._client._call(_requests.get_job(job_id, include_steps))
        return job

    async def wait(self, job_id: str) -> JobRecord:
        """
        See `Jobs.wait`; `asyncio.wait_for` limits the time. The request of a cancelled task ends within 25 s.
        """
        job: JobRecord = await self._client._wait(_requests.get_job(job_id, False))
        return job

    def list(
        self, *, fields: Sequence[str] | None = None, page_size: int | None = None, **filter: Unpack[JobFilter]
    ) -> AsyncIterator[JobRecord]:
        return self._client._rows(_requests.list_jobs(filter, fields, page_size), "jobs")

    async def cancel(self, job_id: str, *, reason: str | None = None, force: bool = False) -> JobRecord:
        job: JobRecord = await self._client._call(_requests.cancel_job(job_id, reason, force))
        return job

    async def delete(self, job_id: str) -> None:
        await self._client._call(_requests.delete_job(job_id))

    async def delete_all(self, *, all: bool = False, **filter: Unpack[JobFilter]) -> int:
        answer = await self._client._call(_requests.delete_jobs(all, filter))
        deleted: int = answer["deleted"]
        return deleted

    async def step(self, job_id: str, step_key: str) -> StepRecord:
        step: StepRecord = await self._client._call(_requests.get_step(job_id, step_key))
        return step

    def steps(
        self, job_id: str, *, fields: Sequence[str] | None = None, page_size: int | None = None
    ) -> AsyncIterator[StepRecord]:
        return self._client._rows(_requests.list_steps(job_id, fields, page_size), "steps")


class AsyncGates:
    """The calls for those who answer questions. See `Gates`."""

    def __init__(self, client: AsyncClient) -> None:
        self._client = client

    def list(
        self, *, status: GateStatus | Sequence[GateStatus] | None = None, page_size: int | None = None
    ) -> AsyncIterator[GateRecord]:
        return self._client._rows(_requests.list_gates(status, page_size), "gates")

    async def get(self, job_id: str, key: str) -> GateRecord:
        gate: GateRecord = await self._client._call(_requests.gate_of(job_id, key))
        return gate

    async def answer(
        self,
        job_id: str,
        key: str,
        action: GateAction,
        *,
        content: Mapping[str, Any] | None = None,
        answered_by: str | None = None,
        revision: int | None = None,
    ) -> GateRecord:
        request = _requests.answer_gate(
            job_id, key, action, content=content, answered_by=answered_by, revision=revision
        )
        gate: GateRecord = await self._client._call(request)
        return gate

    async def withdraw(self, job_id: str, key: str) -> GateRecord:
        gate: GateRecord = await self._client._call(_requests.withdraw_gate(job_id, key))
        return gate


class AsyncRuns:
    """The calls that read the runs of agents. See `Runs`."""

    def __init__(self, client: AsyncClient) -> None:
        self._client = client

    async def get(self, run_id: str) -> RunRecord:
        run: RunRecord = await self._client._call(_requests.get_run(run_id))
        return run

    async def wait(self, run_id: str) -> RunRecord:
        """See `AsyncJobs.wait`."""
        run: RunRecord = await self._client._wait(_requests.get_run(run_id))
        return run


class AsyncHooks:
    """The calls of the webhook gateway. See `Hooks`."""

    def __init__(self, client: AsyncClient) -> None:
        self._client = client

    async def wake(
        self, text: str, *, mode: Literal["now", "next-heartbeat"] = "now", idempotency_key: str | None = None
    ) -> dict[str, Any]:
        return await self.send("wake", {"text": text, "mode": mode}, idempotency_key=idempotency_key)

    async def agent(
        self, message: str, *, idempotency_key: str | None = None, **request: Unpack[AgentRequest]
    ) -> dict[str, Any]:
        body = {"message": message, **_requests.wire(request)}
        return await self.send("agent", body, idempotency_key=idempotency_key)

    async def send(self, name: str, body: Mapping[str, Any], *, idempotency_key: str | None = None) -> dict[str, Any]:
        response: dict[str, Any] = await self._client._call(self._client._hook(name, body, idempotency_key))
        return response
