"""The types of the client's arguments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, NamedTuple, TypedDict, Union

from ._records import GateAction, LinkRecord, Status

Time = Union[str, datetime]


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


class JobFields(TypedDict, total=False):
    """The fields of a job that its creator sets. Absent fields stay as they are; None clears a field."""

    name: str | None
    description: str | None
    input: Mapping[str, Any] | None
    metadata: Mapping[str, Any] | None
    stale_after_seconds: int | None
    #: Where the end of the job is sent. Its host must be one of ``outbound.allowedHosts`` of the service.
    callback_url: str | None
    #: The session that the end of the job wakes: its key, or in an agent run ``"self"``.
    return_to: str | Mapping[str, Any] | None
    #: Links to show beside the job, such as to a result: at most 20. They replace the former ones.
    links: Sequence[LinkRecord] | None
    #: The job that this one is a part of. It need not exist, and must be one that the token may use.
    parent_job_id: str | None


class JobFilter(TypedDict, total=False):
    status: Status | Sequence[Status]
    #: A prefix of the name, case-insensitive.
    name: str
    #: A prefix of the job's id.
    job_id: str
    #: The jobs that name this one as their parent.
    parent_job_id: str
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
