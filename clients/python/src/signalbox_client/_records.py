"""
The records that the service returns. Generated from src/wire by `npm run docs`. Times are ISO 8601 in UTC with
milliseconds.
"""

from __future__ import annotations

from typing import Any, Literal, TypedDict

#: The status of a job or a step.
Status = Literal["running", "completed", "failed"]


class StepSummaryRecord(TypedDict):
    """A step without its output, as in live events and in `currentStep`."""

    #: Identifies the step. Assigned by the service.
    stepId: str
    #: Identifies the job. Chosen by the client; percent-encode it in a URL.
    jobId: str
    #: Identifies the step within its job. Chosen by the client; percent-encode it in a URL.
    stepKey: str
    #: A name for people.
    stepName: str
    #: Whether the work is in progress, has succeeded or has failed.
    status: Status
    #: Progress of the step in percent.
    progress: float
    #: The latest message of the step.
    message: str | None
    #: When the step was first reported.
    createdAt: str
    #: When the step was last reported.
    updatedAt: str
    #: When the current attempt of the step started.
    startedAt: str
    #: Number of attempts. Increases when a failed or completed step is reported as running again.
    attempts: int
    #: When the step was last reported.
    lastReportAt: str
    #: True if the step is running and has not been reported for longer than the job allows (`staleAfterSeconds`).
    stale: bool


class FailedStepAttemptRecord(TypedDict):
    """An attempt of a step that failed."""

    #: The number of the attempt.
    attempt: int
    #: The message of the step when it failed, at most 1,000 characters of it.
    error: str | None
    #: When the attempt started.
    startedAt: str
    #: When the attempt failed.
    endedAt: str


class StepRecord(TypedDict, total=False):
    """A step, as the service returns it."""

    #: Identifies the step. Assigned by the service.
    stepId: str
    #: Identifies the job. Chosen by the client; percent-encode it in a URL.
    jobId: str
    #: Identifies the step within its job. Chosen by the client; percent-encode it in a URL.
    stepKey: str
    #: A name for people.
    stepName: str
    #: Whether the work is in progress, has succeeded or has failed.
    status: Status
    #: Progress of the step in percent.
    progress: float
    #: The latest message of the step.
    message: str | None
    #: When the step was first reported.
    createdAt: str
    #: When the step was last reported.
    updatedAt: str
    #: When the current attempt of the step started.
    startedAt: str
    #: Number of attempts. Increases when a failed or completed step is reported as running again.
    attempts: int
    #: When the step was last reported.
    lastReportAt: str
    #: True if the step is running and has not been reported for longer than the job allows (`staleAfterSeconds`).
    stale: bool
    #: Result of the step: any JSON object.
    output: dict[str, Any] | None
    #: The latest 20 failed attempts, oldest first. Present if an attempt has failed.
    failedAttempts: list[FailedStepAttemptRecord]
    #: Duration of the latest attempt in milliseconds. Present when the step is completed.
    durationMs: int


class CancelRecord(TypedDict):
    """A request to cancel a job."""

    #: When cancellation was requested first.
    requestedAt: str
    #: Why the result is no longer wanted.
    reason: str | None


class JobRecord(TypedDict, total=False):
    """A job. A token without the scope `jobs:read` receives only its ids, status, progress and times from a change."""

    #: Identifies the job. Chosen by the client; percent-encode it in a URL.
    jobId: str
    #: A name for people.
    name: str | None
    #: A description for people.
    description: str | None
    #: Input of the job: any JSON object.
    input: dict[str, Any] | None
    #: Data to find the job by, such as `{"team": "data"}`: any JSON object.
    metadata: dict[str, Any] | None
    #: Whether the work is in progress, has succeeded or has failed.
    status: Status
    #: Progress of the whole job in percent. Never decreases.
    progress: float
    #: The latest message of the job or of one of its steps.
    message: str | None
    #: Result of the job: any JSON object. Null until the job completes.
    output: dict[str, Any] | None
    #: When the job was created.
    createdAt: str
    #: When the job last changed.
    updatedAt: str
    #: When the job or one of its steps was last reported. Null before the first report.
    lastReportAt: str | None
    #: True if the job is running and has not been reported for longer than `staleAfterSeconds`.
    stale: bool
    #: When the job becomes stale unless it is reported again. Null after the job has ended, and while it waits for a
    #: person.
    staleAt: str | None
    #: Seconds without a report after which the running job counts as stale. Null means the configured
    #: `jobs.staleAfterSeconds`.
    staleAfterSeconds: int | None
    #: The request to cancel the job; null without one. A failed job with such a request is cancelled. Null again when
    #: the job is started again after its end.
    cancel: CancelRecord | None
    #: The keys of the open gates, oldest first. While the job waits for a person, it is not stale.
    waitingFor: list[str]
    #: The running step that was reported last. Null if no step is running.
    currentStep: StepSummaryRecord | None
    #: The step that `stepKey` names; null if it does not exist.
    step: StepRecord | None
    #: All steps, oldest first; present with `include=steps`.
    steps: list[StepRecord]
    #: Present once cancellation of the job was requested: stop the work and report the step as failed with `failJob`.
    #: Reports that are in flight at the same time can still lack it.
    cancelRequested: Literal[True]
