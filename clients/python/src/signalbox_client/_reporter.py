"""Reporters for code without asyncio."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING

from ._errors import is_transient
from ._http import Request
from ._records import JobFields, JobRecord
from ._reports import BaseReporter, Output, make_assignment
from ._requests import wire
from ._retry import call_with_retry

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack


class Reporter(BaseReporter):
    """
    Reports on one job or step. start, complete, fail and flush return once the service has accepted the report, and
    retry while the service is unavailable; with a `timeout` in seconds they raise TimeoutError, and the report is
    still sent when it can be. The other calls return at once and never raise.
    """

    def start(self, message: str | None = None, *, progress: float = 0, timeout: float | None = None) -> None:
        """Reports the start, or the restart, of the work. Raises SignalboxError when the service rejects it."""
        self._sender.wait(self._start(message, progress), timeout)

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

    def __enter__(self) -> Self:
        try:
            self.start()
        except BaseException as error:
            if not isinstance(error, Exception):
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
        is_abort = not isinstance(error, Exception)
        try:
            self.fail(error, fail_job=self.fail_job, timeout=self._sender.pace.close_wait if is_abort else None)
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
        request = Request("PUT", self._path, body=wire(fields))
        job: JobRecord = call_with_retry(self._connection, self._sender, request, self._sender.retry_for)
        return job

    def step(self, step_key: str, *, name: str, start: float | None = None, end: float | None = None) -> Step:
        """
        Returns a reporter on a step that covers `start` to `end` percent of the job. The step that ends at 100
        completes the job. Sends nothing by itself.
        """
        assignment = make_assignment(self.job_id, step_key, name, start, end)
        return Step(self._connection, self._sender, self.job_id, assignment)
