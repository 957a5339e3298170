"""
The records that the service returns. Generated from src/wire by `npm run docs`. Times are ISO 8601 in UTC with
milliseconds.
"""

from __future__ import annotations

from typing import Any, Literal, TypedDict

#: The status of a job or a step.
Status = Literal["running", "completed", "failed"]
#: A transition of a job that wakes a session.
ReturnEvent = Literal["completed", "failed", "stale", "gate"]
#: The status of a gate.
GateStatus = Literal["open", "answered", "expired", "withdrawn"]
#: The decision of a person.
GateAction = Literal["accept", "decline", "cancel"]
#: The status of a run.
RunStatus = Literal["queued", "waiting", "running", "completed", "failed", "dropped"]
#: The kind of a delivery.
DeliveryKind = Literal["channel", "webhook", "wake"]
#: The state of a delivery.
DeliveryState = Literal["pending", "sent", "failed"]


class LinkRecord(TypedDict):
    """A link of a job or a step."""

    #: A name for people.
    title: str
    #: An address that begins with `https://` or `http://`.
    url: str


class StatusCountsRecord(TypedDict):
    """Numbers of steps or jobs by status."""

    #: The number of running ones.
    running: int
    #: The number of completed ones.
    completed: int
    #: The number of failed ones.
    failed: int


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
    #: Links to results, logs and the like.
    links: list[LinkRecord]
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
    #: Links to results, logs and the like.
    links: list[LinkRecord]
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


class ReturnToRecord(TypedDict):
    """The session that a job wakes."""

    #: The session that is woken.
    sessionKey: str
    #: When the session is woken.
    on: list[ReturnEvent]
    #: Whether the reply is sent to a channel.
    deliver: bool
    #: The channel for the reply; `last` is that of the main session.
    channel: str
    #: The recipient; null means that of the main session.
    to: str | None


class _ReturnTarget(TypedDict):
    #: The key of a session that exists. The token of a run sends `self`, which is the session of that run.
    sessionKey: str


class ReturnTarget(_ReturnTarget, total=False):
    """The session that a job is to wake, and when."""

    #: When the session is woken.
    on: list[ReturnEvent]
    #: Whether the reply is sent to a channel.
    deliver: bool
    #: The channel for the reply; `last` is that of the main session.
    channel: Literal["whatsapp", "telegram", "discord", "slack", "mattermost", "signal", "imessage", "msteams", "ntfy", "email", "log", "last"]
    #: The recipient; null means that of the main session.
    to: str | None


class JobReturnRecord(TypedDict):
    """A transition that has woken a session."""

    #: `completed` and `failed`: the job ended. `stale`: it was not reported for too long. `gate`: a question of it was
    #: answered or has expired.
    event: ReturnEvent
    #: The run that the session received; null if the session no longer existed.
    runId: str | None
    #: When the transition happened.
    at: str


class ReturnOfRecord(TypedDict):
    """A transition of a job that a return run is about."""

    #: The job.
    jobId: str
    #: `completed` and `failed`: the job ended. `stale`: it was not reported for too long. `gate`: a question of it was
    #: answered or has expired.
    event: ReturnEvent


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
    #: How long jobs of this name took that completed in the last 60 days, without waiting for gates. Null for less than
    #: five such jobs.
    usual: dict[str, Any] | None
    #: When the running job ends if it takes as long as half of those before it. Null without `usual`, and while it
    #: waits for a person.
    expectedEndAt: str | None
    #: The request to cancel the job; null without one. A failed job with such a request is cancelled. Null again when
    #: the job is started again after its end.
    cancel: CancelRecord | None
    #: The keys of the open gates, oldest first. While the job waits for a person, it is not stale.
    waitingFor: list[str]
    #: The session of the agent that the job wakes; null if it wakes none.
    returnTo: ReturnToRecord | None
    #: The latest transitions that have woken a session, at most 20, oldest first.
    returns: list[JobReturnRecord]
    #: The running step that was reported last. Null if no step is running.
    currentStep: StepSummaryRecord | None
    #: The number of the job's steps by status.
    stepCounts: StatusCountsRecord
    #: Links to results, logs and the like.
    links: list[LinkRecord]
    #: The number of the jobs that name this one as their parent, by status; at most 100,000.
    children: StatusCountsRecord
    #: The trace of the run that the job is in, as the header `traceparent` of W3C Trace Context states it, for spans of
    #: your own below it. Null unless the service sends traces (`otel.traces`).
    traceparent: str | None
    #: The job that this one is a part of. It need not exist.
    parentJobId: str | None
    #: The step that `stepKey` names; null if it does not exist.
    step: StepRecord | None
    #: All steps, oldest first; present with `include=steps`.
    steps: list[StepRecord]
    #: Present once cancellation of the job was requested: stop the work and report the step as failed with `failJob`.
    #: Reports that are in flight at the same time can still lack it.
    cancelRequested: Literal[True]


class _GateRecord(TypedDict):
    #: Identifies the gate. Assigned by the service.
    gateId: str
    #: Identifies the job. Chosen by the client; percent-encode it in a URL.
    jobId: str
    #: Identifies the gate within its job. Chosen by the client. It can be used only once.
    key: str
    #: Grows with each change of the question, its form, `onExpiry` or `expiresAt`. Send it with the answer.
    revision: int
    #: The question in one line.
    title: str
    #: The facts that a person needs to decide; plain text.
    message: str | None
    #: The form as a JSON Schema; null if the answer is only an action.
    requestedSchema: dict[str, Any] | None
    #: `open` until the gate is answered, expires or is withdrawn.
    status: Literal["open", "answered", "expired", "withdrawn"]
    #: The decision of the person, or `onExpiry` of a gate that has expired.
    action: GateAction | None
    #: The entered values: an object that fits `requestedSchema`. Only with the action `accept`.
    content: dict[str, Any] | None
    #: The person who answered; `expiry` if nobody did in time; else null.
    answeredBy: str | None
    #: When the gate was opened.
    createdAt: str
    #: When the gate was answered; null if it was not.
    answeredAt: str | None
    #: When the gate expires if nobody has answered; null for never.
    expiresAt: str | None
    #: The action of the gate if it expires.
    onExpiry: GateAction


class GateRecord(_GateRecord, total=False):
    """A question to a person, attached to a job."""

    #: Present in the response to `PUT`, and to `GET` of one gate, once cancellation of the job was requested: stop
    #: waiting for the answer.
    cancelRequested: Literal[True]
    #: Name of the job. Only in lists.
    jobName: str | None


class UsageRecord(TypedDict):
    """The usage of agent runs."""

    #: All tokens of the prompts, cached ones included. Null if it was not reported.
    inputTokens: int | None
    #: The part of `inputTokens` that was read from a cache. Null if it was not reported.
    cachedInputTokens: int | None
    #: All generated tokens, those of reasoning included. Null if it was not reported.
    outputTokens: int | None
    #: The part of `outputTokens` that was used for reasoning. Null if it was not reported.
    reasoningTokens: int | None
    #: Cost in US dollars as the program reported it; null if none did. It is never estimated.
    costUsd: float | None


class RunErrorRecord(TypedDict):
    """Why a run failed."""

    #: One of the error codes at /docs/errors.
    code: str
    #: The problem and how to correct it. A second line holds the words of the model server; a request with the hook
    #: token does not get it.
    message: str


class _FailedRunAttemptRecord(TypedDict):
    #: The number of the attempt.
    attempt: int
    #: Why the attempt failed.
    error: RunErrorRecord
    #: When the attempt started.
    startedAt: str
    #: When the attempt failed.
    endedAt: str


class FailedRunAttemptRecord(_FailedRunAttemptRecord, total=False):
    """An attempt of a run that failed."""

    #: The end of what the program of this attempt wrote to standard error, at most 4 KiB.
    stderr: str


class MissingValueRecord(TypedDict):
    """A placeholder that had no value, and the path of a value of the request that is spelled alike."""

    #: The path between the braces of the template.
    path: str
    #: The path of a value of the request that is spelled alike; null if there is none.
    didYouMean: str | None


class WaitsForRecord(TypedDict):
    """Why a queued run has not started."""

    #: `run`: an earlier run of the session. `session`: another turn in the session. `time`: the pause after a failed
    #: attempt. `worker`: a worker with a free place. `answer`: a person's answer to the question of a budget.
    kind: Literal["run", "session", "time", "worker", "answer"]
    #: The earliest run of the session that has not ended for `run`. For `answer` the run on whose job the question is:
    #: they have the same id. Otherwise null.
    runId: str | None
    #: The earliest time of the next attempt; null unless `kind` is `time`.
    notBefore: str | None


class RunRecord(TypedDict, total=False):
    """A run of an agent, as the service returns it."""

    #: Identifies the run.
    runId: str
    #: `agent`: a run of the agent. `wake`: an event for the main session. `return`: a run with the news of jobs that
    #: the session started. `job`: a report of a job, without an agent.
    kind: Literal["agent", "wake", "return", "job"]
    #: The job that it reported; present with `kind: job`.
    jobId: str
    #: Name from the request or the mapping, for people.
    name: str | None
    #: Name of the mapping that made the run; null for a request to the agent hook.
    mapping: str | None
    #: The conversation of the run. Null if the request is authenticated with the hook token.
    sessionKey: str | None
    #: The agent of `agents.list`; null for that of `agents.defaults`, and until the mapping has been applied.
    agentId: str | None
    #: `waiting`: a budget is used up, and a person decides whether the run goes on. `dropped`: the transform of the
    #: mapping decided that the request needs no run.
    status: RunStatus
    #: Number of attempts so far.
    attempts: int
    #: Why the run failed; null otherwise.
    error: RunErrorRecord | None
    #: When the request was accepted.
    createdAt: str
    #: When the latest attempt started.
    startedAt: str | None
    #: When the run ended.
    endedAt: str | None
    #: The answer of the agent, or what it had written when a budget ended its turn; null otherwise.
    reply: str | None
    #: Whether the end of the reply is missing, because the model reached its length limit.
    replyCutOff: bool
    #: Sum of what all attempts used, failed ones included, as the model server or the program reported it. Null if
    #: nothing was reported.
    usage: UsageRecord | None
    #: The deliveries of the reply to chat channels.
    deliveries: list[DeliveryRecord]
    #: The kept request that the run was made of: `GET /api/hooks/requests/{requestId}`. Null if it was not kept.
    requestId: str | None
    #: The kept request of which the run is a replay; null for other runs.
    replayOf: str | None
    #: The `runId` of the ended run whose request this run repeats; null for other runs.
    againOf: str | None
    #: The transitions of jobs of which a run of the kind `return` has the news; empty for other runs.
    returnOf: list[ReturnOfRecord]
    #: The latest 20 failed attempts, oldest first. Only in the response for a single run, if an attempt has failed.
    failedAttempts: list[FailedRunAttemptRecord]
    #: The placeholders of the mapping that had no value, at most 20. Only in the response for a single run, if there
    #: are any, and not with the hook token.
    missingValues: list[MissingValueRecord]
    #: The end of what the program of the latest attempt wrote to standard error, at most 4 KiB, with the values of its
    #: variables masked. Only in the response for a single run, if it wrote something, and not with the hook token.
    stderr: str
    #: Why the run has not started. Only in the response for a single run that is queued or waiting, and not with the
    #: hook token.
    waitsFor: WaitsForRecord


class DeliveryPartRecord(TypedDict):
    """A message of a delivery."""

    #: Whether the part was sent.
    state: Literal["pending", "sending", "sent"]
    #: The id of the message at the chat service; null before it is sent.
    id: str | None


class _DeliveryRecord(TypedDict):
    #: Identifies the delivery.
    deliveryId: str
    #: The run whose reply is delivered; null for a turn of the main session.
    runId: str | None
    #: Kind of the delivery: a text to a chat (`channel`), a signed request (`webhook`), or an event of the main session
    #: (`wake`).
    kind: Literal["channel", "webhook", "wake"]
    #: The rule of `notify` whose event is delivered; null for a reply, a `callbackUrl` and a test of a channel.
    rule: str | None
    #: Type of the event that is delivered, such as `job.failed`; null for a reply.
    eventType: str | None
    #: The channel that the text is sent to, such as `telegram`. For other kinds the kind itself.
    channel: str
    #: The recipient in the notation of the channel; null if no recipient was known. For a webhook its rule, or the host
    #: of the `callbackUrl`.
    to: str | None
    #: The first words of the text, at most 120 characters on one line; null for a webhook. A question shows its title,
    #: because its text has the link that answers it.
    preview: str | None
    #: `pending` until all parts are sent, or until the delivery fails or is cancelled.
    state: Literal["pending", "sent", "failed"]
    #: Number of attempts so far. One attempt can send several parts.
    attempts: int
    #: For a webhook, the status code of the latest response; null if there was none.
    lastStatus: int | None
    #: The messages into which the reply is split; empty before the first attempt.
    parts: list[DeliveryPartRecord]
    #: True if a part may have arrived twice, because the connection broke while it was sent.
    maybeTwice: bool
    #: Why the delivery failed or waits; null otherwise.
    reason: str | None
    #: Time of the next attempt; null if the delivery does not have to wait.
    notBefore: str | None
    #: When the delivery was created.
    createdAt: str
    #: When the last part was sent.
    sentAt: str | None


class DeliveryRecord(_DeliveryRecord, total=False):
    """A delivery, as the service returns it."""

    #: Name of the run. Only in lists.
    runName: str | None
