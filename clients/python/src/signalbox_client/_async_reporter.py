"""Reporters for asyncio. The client's background thread sends their reports, so that a busy loop delays none."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from types import TracebackType
from typing import TYPE_CHECKING

from . import _requests
from ._async_calls import call_with_retry, in_thread, wait_for_end
from ._errors import Cancelled, SignalboxError, is_transient
from ._http import Request
from ._options import GateAnswer, JobFields, Question
from ._records import JobRecord
from ._reports import BaseReporter, Output, StepGroup, job_ended, make_assignment, raise_unreadable

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack


class AsyncReporter(BaseReporter):
    """
    Reports on one job or step. Await start, complete, fail and flush: they return once the service has accepted the
    report, and retry while the service is unavailable. A cancelled wait does not withdraw the report. The other calls
    return at once. Once cancellation of the job was requested, every call but complete and fail raises Cancelled.
    """

    async def start(self, message: str | None = None, *, progress: float = 0) -> None:
        """See `Step.start`."""
        await asyncio.wrap_future(self._start(message, progress))
        self._raise_cancelled()

    async def complete(self, output: Output = None, *, message: str | None = None) -> None:
        """See `Step.complete`."""
        try:
            await asyncio.wrap_future(self._complete(output, message))
        except Exception as error:
            self._completion_refused(error)
            raise

    async def fail(self, reason: object, *, output: Output = None, fail_job: bool = False) -> None:
        """See `Step.fail`."""
        await asyncio.wrap_future(self._fail(reason, output, fail_job))

    async def flush(self) -> None:
        """See `Step.flush`."""
        await asyncio.wrap_future(self._sender.send(self._queue, {}))
        self._raise_rejection()
        self._raise_cancelled()

    async def raise_if_cancelled(self) -> None:
        """See `Step.raise_if_cancelled`."""
        await in_thread(self._check_cancel)

    async def __aenter__(self) -> Self:
        try:
            await self.start()
        except BaseException as error:
            if isinstance(error, Cancelled):
                await self._report_failure(error)
            elif not isinstance(error, Exception):
                # The report of the start is still sent, and must not be the last one.
                self._fail(error, None, self.fail_job)
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """See `Step.__exit__`."""
        if self._has_ended:
            return
        if error is not None:
            await self._report_failure(error)
            return
        try:
            await self.complete()
        except Exception as refusal:
            # Work that is done has not failed because the service is unavailable.
            if not is_transient(refusal):
                await self._report_failure(refusal)
            raise

    async def _report_failure(self, error: BaseException) -> None:
        """Waits for the service, but not for long when the task is cancelled. Raises nothing but CancelledError."""
        limit = None if isinstance(error, Exception) else self._sender.pace.close_wait
        reason, fail_job = self._failure_of(error)
        try:
            await asyncio.wait_for(self.fail(reason, fail_job=fail_job), limit)
        except Exception as refusal:
            self._sender.report_error(refusal)


class AsyncStep(AsyncReporter):
    """Reports on one step. Keep one for each step: it uses earlier reports to leave out redundant requests."""


class AsyncJob(AsyncReporter):
    """Creates a job and its steps, and reports on a job without steps. See `Job`."""

    async def create(self, **fields: Unpack[JobFields]) -> JobRecord:
        """Creates the job, or updates the given fields. Retries while the service is unavailable."""
        request = Request("PUT", self._path, body=_requests.job_fields(fields))
        job: JobRecord = await call_with_retry(self._connection, self._sender, request, self._sender.retry_for)
        return job

    async def gate(self, key: str, *, title: str, **question: Unpack[Question]) -> GateAnswer:
        """See `Job.gate`; `asyncio.wait_for` limits the time, and the gate stays open."""
        gate = _requests.get_gate(self._path, key)
        is_new = await self._send(gate, "gate_not_found") is not None
        # A gate that is not open any more has the answer already.
        put = _requests.put_gate(gate, title, question, is_new)
        if await self._send(put, "gate_answered", "gate_closed", "job_ended") == "job_ended":
            await self._raise_if_over(job_ended())
        while True:
            record = await wait_for_end(self._connection, self._sender, gate)
            if record["status"] in ("open", "withdrawn"):
                await self._raise_if_over(Cancelled(None) if record.get("cancelRequested") else None)
            if record["status"] != "open":
                return _requests.answer_of(record)

    async def _send(self, request: Request, *expected: str) -> str | None:
        """See `Job._send`."""
        try:
            await call_with_retry(self._connection, self._sender, request, self._sender.retry_for)
        except SignalboxError as error:
            if error.code not in expected:
                raise
            return error.code
        return None

    async def _raise_if_over(self, known: Exception | None) -> None:
        """See `Job._raise_if_over`."""
        request = Request("GET", self._path)
        try:
            job = await call_with_retry(self._connection, self._sender, request, self._sender.retry_for)
        except SignalboxError as error:
            return raise_unreadable(error, known)
        self._raise_over(job)

    def step(self, step_key: str, *, name: str, start: float | None = None, end: float | None = None) -> AsyncStep:
        """See `Job.step`."""
        assignment = make_assignment(self.job_id, step_key, name, start, end)
        return AsyncStep(self._connection, self._sender, self.job_id, assignment)

    @asynccontextmanager
    async def parallel(
        self, steps: Sequence[tuple[str, str]], *, start: float, end: float
    ) -> AsyncIterator[list[AsyncStep]]:
        """See `Job.parallel`."""
        group = StepGroup(start, end, [key for key, _ in steps])
        all_steps = [
            AsyncStep(
                self._connection, self._sender, self.job_id, make_assignment(self.job_id, key, name, None, None), group
            )
            for key, name in steps
        ]
        yield all_steps
        for step in all_steps:
            await step.flush()
