"""Reporters for code without asyncio."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import TYPE_CHECKING

from . import _requests
from ._errors import Cancelled, SignalboxError, is_transient
from ._http import Request
from ._options import GateAnswer, JobFields, Question
from ._records import JobRecord
from ._reports import BaseReporter, Output, StepGroup, job_ended, make_assignment, raise_unreadable
from ._retry import call_with_retry, wait_for_end

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack


class Reporter(BaseReporter):
    """
    Reports on one job or step. start, complete, fail and flush return once the service has accepted the report, and
    retry while the service is unavailable; with a `timeout` in seconds they raise TimeoutError, and the report is
    still sent when it can be. The other calls return at once. Once cancellation of the job was requested, every call
    but complete and fail raises Cancelled.
    """

    def start(self, message: str | None = None, *, progress: float = 0, timeout: float | None = None) -> None:
        """Reports the start, or the restart, of the work. Raises SignalboxError when the service rejects it."""
        self._sender.wait(self._start(message, progress), timeout)
        self._raise_cancelled()

    def complete(self, output: Output = None, *, message: str | None = None, timeout: float | None = None) -> None:
        """
        Reports the completion with the output, a dict (`self.output` by default). A job, and the step whose range ends
        at 100, require one. Raises SignalboxError when the service rejects the report.
        """
        try:
            self._sender.wait(self._complete(output, message), timeout)
        except Exception as error:
            self._completion_refused(error)
            raise

    def fail(
        self, reason: object, *, output: Output = None, fail_job: bool = False, timeout: float | None = None
    ) -> None:
        """
        Reports the failure; the progress stays as it is. `reason` is an error or a text, `output` the results that a
        failed attempt leaves for the next one. `fail_job` also fails the step's job.
        """
        self._sender.wait(self._fail(reason, output, fail_job), timeout)

    def flush(self, *, timeout: float | None = None) -> None:
        """
        Returns once the service has accepted all reports so far. Raises SignalboxError when it rejected the last one.
        """
        self._sender.wait(self._sender.send(self._queue, {}), timeout)
        self._raise_rejection()
        self._raise_cancelled()

    def raise_if_cancelled(self) -> None:
        """
        Reads the job, for work that reports rarely, and raises Cancelled if its cancellation was requested. An error of
        the request is passed to `on_error`.
        """
        self._check_cancel()

    def __enter__(self) -> Self:
        try:
            self.start()
        except BaseException as error:
            if isinstance(error, Cancelled):
                self._report_failure(error)
            elif not isinstance(error, Exception):
                # The report of the start is still sent, and must not be the last one.
                self._fail(error, None, self.fail_job)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """
        Completes with `self.output`, or fails with the error's message. Does nothing after a call of complete() or
        fail() in the block.
        """
        if self._has_ended:
            return
        if error is not None:
            self._report_failure(error)
            return
        try:
            self.complete()
        except Exception as refusal:
            # Work that is done has not failed because the service is unavailable.
            if not is_transient(refusal):
                self._report_failure(refusal)
            raise

    def _report_failure(self, error: BaseException) -> None:
        """Waits for the service, but not for long when the program is to end. Never raises."""
        limit = None if isinstance(error, Exception) else self._sender.pace.close_wait
        reason, fail_job = self._failure_of(error)
        try:
            self.fail(reason, fail_job=fail_job, timeout=limit)
        except Exception as refusal:
            self._sender.report_error(refusal)


class Step(Reporter):
    """Reports on one step. Keep one for each step: it uses earlier reports to leave out redundant requests."""


class Job(Reporter):
    """
    Creates a job and its steps, and reports on a job without steps. Steps advance and complete their job by
    themselves; complete and fail are for a job without steps, or to override its steps.
    """

    def create(self, **fields: Unpack[JobFields]) -> JobRecord:
        """Creates the job, or updates the given fields. Retries while the service is unavailable."""
        request = Request("PUT", self._path, body=_requests.job_fields(fields))
        job: JobRecord = call_with_retry(self._connection, self._sender, request, self._sender.retry_for)
        return job

    def gate(self, key: str, *, title: str, timeout: float | None = None, **question: Unpack[Question]) -> GateAnswer:
        """
        Asks a person, and returns the answer, however long that takes; TimeoutError after `timeout` seconds, while the
        gate stays open. A repeated call, also in another process, waits for the same answer. The action of a withdrawn
        gate is `cancel`. Raises Cancelled once cancellation of the job is requested, and SignalboxError `job_ended`
        once it has ended otherwise, also for a question that the service rejects, and `job_not_found`.
        """
        gate = _requests.get_gate(self._path, key)
        is_new = self._send(gate, "gate_not_found") is not None
        # A gate that is not open any more has the answer already.
        put = _requests.put_gate(gate, title, question, is_new)
        if self._send(put, "gate_answered", "gate_closed", "job_ended") == "job_ended":
            self._raise_if_over(job_ended())
        while True:
            record = wait_for_end(self._connection, self._sender, gate, timeout)
            if record["status"] in ("open", "withdrawn"):
                self._raise_if_over(Cancelled(None) if record.get("cancelRequested") else None)
            if record["status"] != "open":
                return _requests.answer_of(record)

    def _send(self, request: Request, *expected: str) -> str | None:
        """Sends a request. Returns the code of its error if it is one of those expected, else None."""
        try:
            call_with_retry(self._connection, self._sender, request, self._sender.retry_for)
        except SignalboxError as error:
            if error.code not in expected:
                raise
            return error.code
        return None

    def _raise_if_over(self, known: Exception | None) -> None:
        """
        Reads the job. Raises Cancelled or SignalboxError if nobody waits for an answer any more; `known` if the token may
        not read the job.
        """
        request = Request("GET", self._path)
        try:
            job = call_with_retry(self._connection, self._sender, request, self._sender.retry_for)
        except SignalboxError as error:
            return raise_unreadable(error, known)
        self._raise_over(job)

    def step(self, step_key: str, *, name: str, start: float | None = None, end: float | None = None) -> Step:
        """
        Returns a reporter on a step that covers `start` to `end` percent of the job. The step that ends at 100
        completes the job. Sends nothing by itself.
        """
        assignment = make_assignment(self.job_id, step_key, name, start, end)
        return Step(self._connection, self._sender, self.job_id, assignment)

    @contextmanager
    def parallel(self, steps: Sequence[tuple[str, str]], *, start: float, end: float) -> Iterator[list[Step]]:
        """
        Gives a step for each key and name. They run at the same time and share `start` to `end` percent of the job, whose
        progress becomes the mean of theirs: only the last one to complete reaches the end. All of them must report through
        this client. At the end of the block, waits until their reports are stored.
        """
        group = StepGroup(start, end, [key for key, _ in steps])
        all_steps = [
            Step(self._connection, self._sender, self.job_id, make_assignment(self.job_id, key, name, None, None), group)
            for key, name in steps
        ]
        yield all_steps
        for step in all_steps:
            step.flush()
