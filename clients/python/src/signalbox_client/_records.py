"""The types of the service's requests and responses. Times are ISO 8601 in UTC with milliseconds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, NamedTuple, TypedDict, Union

Status = Literal["running", "completed", "failed"]
Time = Union[str, datetime]


class StepRecord(TypedDict, total=False):
    """A step, as the service returns it."""

    stepId: str
    jobId: str
    stepKey: str
    stepName: str
    status: Status
    #: The step's own progress, 0-100.
    progress: float
    message: str | None
    output: dict[str, Any] | None
    createdAt: str
    updatedAt: str
    #: When the current attempt began.
    startedAt: str
    attempts: int
    lastReportAt: str
    stale: bool
    #: The duration of a completed attempt; only in the response for a single step.
    durationMs: int


class JobRecord(TypedDict, total=False):
    """A job, as the service returns it."""

    jobId: str
    name: str | None
    description: str | None
    status: Status
    #: The overall progress, 0-100; never decreases.
    progress: float
    message: str | None
    input: dict[str, Any] | None
    metadata: dict[str, Any] | None
    output: dict[str, Any] | None
    createdAt: str
    updatedAt: str
    lastReportAt: str | None
    stale: bool
    staleAt: str | None
    staleAfterSeconds: int | None
    #: The running step with the most recent report.
    currentStep: StepRecord | None
    #: Present if the request includes the steps; oldest first.
    steps: list[StepRecord]


class JobFields(TypedDict, total=False):
    """The fields of a job that its creator sets. Absent fields stay as they are; None clears a field."""

    name: str | None
    description: str | None
    input: Mapping[str, Any] | None
    metadata: Mapping[str, Any] | None
    stale_after_seconds: int | None


class JobFilter(TypedDict, total=False):
    status: Status | Sequence[Status]
    #: A prefix of the name, case-insensitive.
    name: str
    #: A prefix of the job's id.
    job_id: str
    created_from: Time
    created_before: Time
    updated_from: Time
    updated_before: Time
    stale: bool
    #: Values that the metadata must have; the keys of nested values are joined with dots.
    metadata: Mapping[str, str | Sequence[str]]


class AgentRequest(TypedDict, total=False):
    """The optional fields of a request to an agent."""

    name: str
    session_key: str
    wake_mode: Literal["now", "next-heartbeat"]
    deliver: bool
    channel: str
    to: str
    model: str
    thinking: str
    timeout_seconds: int


class _Range(TypedDict, total=False):
    #: The share of the job's progress that the step covers, 0-100.
    jobProgressStart: float
    jobProgressEnd: float


class Assignment(_Range):
    """
    The identity of a step, as plain JSON, which an orchestrator passes to the code that does the work. It stays the
    same after a retry or a recovery, so that every report updates the same record.
    """

    jobId: str
    stepKey: str
    stepName: str


class Event(NamedTuple):
    """
    A live event. `state` is the first of each connection: after `{"live": False}` no events arrive until the next
    `{"live": True}`. `reload` means that events were lost: read the state again. The others are `job`, `job_removed`,
    `step`, `run` and `delivery`.
    """

    type: str
    data: dict[str, Any]
