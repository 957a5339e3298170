"""The parts of reporters that do not wait: what a report holds, and the calls that return at once."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from concurrent.futures import Future
from typing import Any, Optional

from ._errors import Cancelled, SignalboxError, is_transient
from ._http import Connection, Request, path_segment
from ._queue import MAX_LOG_CHARS, Report, ReportQueue
from ._options import Assignment
from ._sender import Sender

#: The service's limit: it rejects the whole report, including a completion, if the message is longer.
_MAX_MESSAGE_CHARS = 65_536
_MAX_REASON_CHARS = 1_000

Output = Optional[Mapping[str, Any]]


class BaseReporter:
    """Builds the reports on one job or step and adds them to its queue."""

    #: The output that `complete()` sends unless it is given another: set it inside a `with` block.
    output: Output
    #: Whether the failure of a `with` block also fails the step's job.
    fail_job: bool

    def __init__(
        self,
        connection: Connection,
        sender: Sender,
        job_id: str,
        assignment: Assignment | None = None,
        group: StepGroup | None = None,
    ) -> None:
        """Raises SignalboxError for a jobId or stepKey that cannot be part of a URL."""
        path = f"/api/jobs{path_segment(job_id)}"
        step_path = path + "/steps" + path_segment(assignment["stepKey"]) if assignment else path

        def put(report: Report) -> None:
            body = _step_body(assignment, report, group) if assignment else report
            answer = connection.call(Request("PUT", step_path, body=body))
            is_requested = isinstance(answer, dict) and answer.get("cancelRequested") is True
            if is_requested and not self._cancelled and report.get("status", "running") == "running":
                self._cancelled = Cancelled(self._read_reason())

        self.job_id = job_id
        self.output = None
        self.fail_job = False
        self._assignment = assignment
        self._path = path
        self._connection = connection
        self._sender = sender
        self._needs_output = assignment is None or _ends_job(assignment, 100)
        #: Set once the answer to a report says that cancellation of the job was requested.
        self._cancelled: Cancelled | None = None
        #: Whether complete() or fail() has been called since the start.
        self._has_ended = False
        self._queue = ReportQueue(put, assignment is not None, sender.pace)

    @property
    def assignment(self) -> Assignment:
        """The step as plain JSON, for `client.step()` in another process."""
        if self._assignment is None:
            raise AttributeError("Only a step has an assignment.")
        return self._assignment

    def progress(self, progress: float, message: str | None = None) -> None:
        """
        Reports the progress, 0-100. Returns at once, and raises nothing but Cancelled. Call it for every item: it is
        sent at every five points or after some seconds. Values outside are clamped; NaN and whatever is not a number
        are ignored.
        """
        self.update(progress=progress, message=message)

    def message(self, message: str) -> None:
        """Reports what is being done. Returns at once: it is sent within a second of the previous report."""
        self.update(message=message)

    def update(self, *, progress: float | None = None, message: str | None = None, output: Output = None) -> None:
        """
        Reports several at once. Raises nothing but Cancelled: an output that is not JSON is left out and passed to
        `on_error`.
        """
        self._raise_cancelled()
        report = _fields(progress=_points(progress), message=message)
        try:
            report.update(_fields(output=output))
        except Exception as error:
            self._sender.report_error(error)
        self._sender.add(self._queue, report)

    def log(self, text: str) -> None:
        """
        Adds lines to the log of the step. Returns at once: they are sent once a second, and not after the end of the step.
        Raises nothing: a job has no log of its own, and ignores them.
        """
        if self._assignment and text:
            lines = text if text.endswith("\n") else text + "\n"
            self._sender.add(self._queue, {"log": lines[-MAX_LOG_CHARS:]})

    def _raise_cancelled(self) -> None:
        if self._cancelled:
            raise Cancelled(self._cancelled.reason)

    def _read_reason(self) -> str | None:
        """Reads the reason of the cancellation; None if it cannot be read."""
        try:
            return self._read_cancel()["reason"]
        except Exception:
            return None

    def _read_cancel(self) -> Any:
        return self._connection.call(Request("GET", self._path))["cancel"]

    def _check_cancel(self) -> None:
        """Reads the job. Raises Cancelled; an error of the request is passed to `on_error`."""
        try:
            cancel = self._read_cancel()
        except Exception as error:
            self._sender.report_error(error)
            return
        if cancel:
            self._cancelled = Cancelled(cancel["reason"])
        self._raise_cancelled()

    def _raise_over(self, job: Mapping[str, Any]) -> None:
        """Raises Cancelled if cancellation of the job was requested, and SignalboxError `job_ended` if it has ended."""
        if job["cancel"]:
            self._cancelled = Cancelled(job["cancel"]["reason"])
            self._raise_cancelled()
        if job["status"] != "running":
            raise job_ended()

    def _failure_of(self, error: BaseException) -> tuple[BaseException, bool]:
        """Returns how a `with` block that raised the error is reported: what failed it, and whether it fails its job."""
        if self._cancelled and isinstance(error, Exception):
            return self._cancelled, True
        # The gate of a job raises it inside the block of a step.
        return error, self.fail_job or isinstance(error, Cancelled)

    def _start(self, message: str | None, progress: float) -> Future[None]:
        self._has_ended = False
        self._cancelled = None
        return self._sender.send(
            self._queue, {"status": "running", **_fields(progress=_points(progress), message=message)}
        )

    def _complete(self, output: Output, message: str | None) -> Future[None]:
        output = self.output if output is None else output
        if self._needs_output and output is None:
            raise SignalboxError(400, "output_required", "`output` is required: this completes the job.")
        report = {"status": "completed", "progress": 100, **_fields(message=message, output=output)}
        self._has_ended = True
        return self._sender.send(self._queue, report, is_final=True)

    def _fail(self, reason: object, output: Output, fail_job: bool) -> Future[None]:
        report = {"status": "failed", "message": _reason_text(reason), **_fields(output=output)}
        if fail_job and self._assignment:
            report["failJob"] = True
        self._has_ended = True
        return self._sender.send(self._queue, report, is_final=True)

    def _completion_refused(self, error: Exception) -> None:
        """Notes that the work has not ended when the service refused its completion."""
        if not isinstance(error, TimeoutError) and not is_transient(error):
            self._has_ended = False

    def _raise_rejection(self) -> None:
        error = self._sender.take_rejection(self._queue)
        if error:
            raise error


def job_ended() -> SignalboxError:
    """Returns the error of a question about a job that has ended."""
    return SignalboxError(409, "job_ended", "The job has ended.")


def raise_unreadable(error: SignalboxError, known: Exception | None) -> None:
    """Raises `known`, if it is given, in place of the error of a token that may not read the job."""
    if error.code != "forbidden":
        raise error
    if known:
        raise known


def _fields(*, progress: float | None = None, message: object = None, output: Output = None) -> dict[str, Any]:
    """Returns the fields that are given. The output is copied. Raises TypeError or ValueError if it is not JSON."""
    report: dict[str, Any] = {}
    if progress is not None:
        report["progress"] = progress
    if isinstance(message, str):
        report["message"] = message[:_MAX_MESSAGE_CHARS]
    if output is not None:
        if not isinstance(output, Mapping):
            raise TypeError(f"`output` must be a dict, not {type(output).__name__}.")
        report["output"] = json.loads(json.dumps(dict(output), allow_nan=False))
    return report


def _points(progress: Any) -> float | None:
    """Converts any number to 0-100; None for NaN and for what is not a number."""
    try:
        points = float(progress)
    except Exception:
        return None
    return None if math.isnan(points) else min(100.0, max(0.0, points))


def _reason_text(reason: object) -> str:
    """Returns the error's message without its traceback, truncated."""
    name = type(reason).__name__
    try:
        text = str(reason)
    except Exception:
        text = ""
    if isinstance(reason, BaseException) and not isinstance(reason, Exception):
        text = f"Aborted: {name}"  # KeyboardInterrupt, SystemExit, CancelledError
    elif isinstance(reason, KeyError):
        text = f"{name}: {text}"  # Its message is only the key.
    return (text or name)[:_MAX_REASON_CHARS]


def make_assignment(job_id: str, step_key: str, name: str, start: float | None, end: float | None) -> Assignment:
    assignment: Assignment = {"jobId": job_id, "stepKey": step_key, "stepName": name}
    if start is not None:
        assignment["jobProgressStart"] = start
    if end is not None:
        assignment["jobProgressEnd"] = end
    return assignment


class StepGroup:
    """Steps that run at the same time, with the part of the job's progress that they share."""

    def __init__(self, start: float, end: float, keys: Iterable[str]) -> None:
        self._start, self._end = start, end
        self._points = dict.fromkeys(keys, 0.0)

    def range_for(self, step_key: str, report: Report) -> Report:
        """Returns a range that brings the job to the mean of the group, whatever the progress of the step is."""
        if "progress" not in report:
            return {}
        self._points[step_key] = report["progress"]
        mean = sum(self._points.values()) / len(self._points)
        reached = math.floor((self._start + (self._end - self._start) * mean / 100) * 1e9 + 0.5) / 1e9
        if reached >= 100 and report.get("status") != "completed":
            return {}
        return {"jobProgressStart": reached, "jobProgressEnd": reached}


def _step_body(assignment: Assignment, report: Report, group: StepGroup | None) -> Report:
    """Builds the body. Leaves the range out of a report that would bring the job to 100 before its completion."""
    body: Report = {"stepName": assignment["stepName"]}
    if group:
        return {**body, **group.range_for(assignment["stepKey"], report), **report}
    is_early = report.get("status") != "completed" and _ends_job(assignment, report.get("progress", 0))
    if "progress" in report and not is_early:
        body.update((key, assignment[key]) for key in ("jobProgressStart", "jobProgressEnd") if key in assignment)
    return {**body, **report}


def _ends_job(assignment: Assignment, progress: float) -> bool:
    """Whether the step's progress brings the job to 100, calculated as the service does; False without a range."""
    start, end = assignment.get("jobProgressStart"), assignment.get("jobProgressEnd")
    if start is None or end is None:
        return False
    return math.floor((start + progress / 100 * (end - start)) * 1e9 + 0.5) / 1e9 >= 100
