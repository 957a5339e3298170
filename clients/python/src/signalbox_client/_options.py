"""The types of the client's arguments, and the records that are not generated yet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, NamedTuple, TypedDict, Union

from ._records import Status

Time = Union[str, datetime]

GateAction = Literal["accept", "decline", "cancel"]


class Question(TypedDict, total=False):
    """The optional fields of a question to a person."""

    #: What a person needs to know to decide.
    message: str | None
    #: The form as a JSON Schema: a flat object, as MCP's `requestedSchema`.
    schema: Mapping[str, Any] | None
    #: The seconds after which the gate expires, counted from when it is opened.
    expires_in: float | None
    #: The action if it expires; `decline` by default.
    on_expiry: GateAction


class GateAnswer(NamedTuple):
    """The answer of a person. `content` has the entered values if the action is `accept`."""

    action: GateAction
    content: dict[str, Any] | None


GateStatus = Literal["open", "answered", "expired", "withdrawn"]


class GateRecord(TypedDict):
    """A question to a person, attached to a job, by the service's names."""

    gateId: str
    jobId: str
    key: str
    #: Grows with each change of the question.
    revision: int
    title: str
    message: str | None
    #: The form as a JSON Schema: MCP's `requestedSchema`.
    requestedSchema: dict[str, Any] | None
    status: GateStatus
    action: GateAction | None
    content: dict[str, Any] | None
    answeredBy: str | None
    createdAt: str
    answeredAt: str | None
    expiresAt: str | None
    #: The action if it expires.
    onExpiry: GateAction


class UsageRecord(TypedDict):
    """What a run used, as the model server or the program reports it. A member is None if nothing reported it."""

    #: Includes cached tokens.
    inputTokens: int | None
    cachedInputTokens: int | None
    #: Includes reasoning tokens.
    outputTokens: int | None
    reasoningTokens: int | None
    #: US dollars. Never estimated.
    costUsd: float | None


class RunRecord(TypedDict, total=False):
    """A run of an agent, as the service returns it."""

    runId: str
    #: `wake` is an event of the main session.
    kind: Literal["agent", "wake"]
    name: str | None
    sessionKey: str | None
    status: Literal["queued", "running", "completed", "failed", "dropped"]
    attempts: int
    reply: str | None
    #: Whether the end of the reply is missing, because the model reached its length limit.
    replyCutOff: bool
    #: What all attempts used together; None if nothing was reported.
    usage: UsageRecord | None
    error: dict[str, str] | None
    deliveries: list[dict[str, Any]]
    #: The kept request that the run was made of, and the one of which it is a replay.
    requestId: str | None
    replayOf: str | None
    #: The end of standard error of the program of the latest attempt; absent if it wrote nothing.
    stderr: str
    createdAt: str
    startedAt: str | None
    endedAt: str | None


class JobFields(TypedDict, total=False):
    """The fields of a job that its creator sets. Absent fields stay as they are; None clears a field."""

    name: str | None
    description: str | None
    input: Mapping[str, Any] | None
    metadata: Mapping[str, Any] | None
    stale_after_seconds: int | None
    #: Where the end of the job is sent. Its host must be one of ``outbound.allowedHosts`` of the service.
    callback_url: str | None


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
    #: Failed jobs whose cancellation was requested, or all others.
    cancelled: bool
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
