import type { EventType } from "../src/config/formats/eventTypes.ts";
import type { GateView } from "../src/models/gates/gate.ts";
import type { RunHead } from "../src/models/runs/readRuns.ts";
import type { EventData, JobRow } from "../src/workers/notify/notifyEvent.ts";

/** An event of the reference: when it happens, and an example of its data. */
export interface EventExample {
  /** When it happens; a sentence without its subject. */
  readonly when: string;
  readonly data: EventData;
}

const JOB: JobRow = {
  jobId: "sales/2026-01-31",
  name: "Nightly import",
  description: null,
  status: "running",
  progress: 40,
  message: "412 of 1,030 files",
  createdAt: "2026-01-31T18:00:00.000Z",
  updatedAt: "2026-01-31T18:12:00.000Z",
  lastReportAt: "2026-01-31T18:12:00.000Z",
  stale: false,
  staleAt: null,
  staleAfterSeconds: 900,
  cancel: null,
  waitingFor: [],
  currentStep: null,
};

const STEP: JobRow["currentStep"] = {
  stepId: "f3a1c5de-84a2-4d4e-9b7e-2f1b7a4f8a61",
  jobId: JOB.jobId,
  stepKey: "load",
  stepName: "Load the files",
  status: "running",
  progress: 40,
  message: "412 of 1,030 files",
  createdAt: "2026-01-31T18:01:00.000Z",
  updatedAt: "2026-01-31T18:12:00.000Z",
  startedAt: "2026-01-31T18:01:00.000Z",
  attempts: 1,
  lastReportAt: "2026-01-31T18:12:00.000Z",
  stale: true,
};

const RUN: RunHead = {
  runId: "7d3c9b1e-2f64-4a0e-8a55-0c9e6f1b2d34",
  kind: "agent",
  name: "CI main",
  mapping: "ci",
  sessionKey: "hook:ci",
  status: "completed",
  attempts: 1,
  error: null,
  createdAt: "2026-01-31T18:00:00.000Z",
  startedAt: "2026-01-31T18:00:01.000Z",
  endedAt: "2026-01-31T18:30:00.000Z",
};

const GATE: GateView = {
  gateId: "1b6f0d52-3c0a-4a57-9f0e-5c1f2f6f7a10",
  jobId: JOB.jobId,
  key: "publish",
  revision: 1,
  title: "Publish 1,030 files?",
  message: "12 of them replace files of yesterday.",
  requestedSchema: null,
  status: "open",
  action: null,
  content: null,
  answeredBy: null,
  createdAt: "2026-01-31T18:30:00.000Z",
  answeredAt: null,
  expiresAt: "2026-01-31T20:30:00.000Z",
  onExpiry: "decline",
};

/** The time of the events. */
export const EVENT_TIME = new Date("2026-01-31T18:30:00.000Z");

/** An example of each event, in the order of the reference. A test compares their fields with those of real events. */
export const EVENT_EXAMPLES: Readonly<Record<EventType | "test", EventExample>> = {
  "job.completed": {
    when: "a job completes: by a report, or by `PUT /api/jobs/:jobId`",
    data: { job: { ...JOB, status: "completed", progress: 100, message: "1,030 files loaded" } },
  },
  "job.failed": {
    when: "a job fails: by a report, by `PUT`, or because it was cancelled by force",
    data: { job: { ...JOB, status: "failed", message: "The disk is full" } },
  },
  "job.stale": {
    when: "a running job has not been reported for `staleAfterSeconds`",
    data: {
      job: { ...JOB, stale: true, staleAt: "2026-01-31T18:27:00.000Z", currentStep: STEP },
      lastReportAt: JOB.lastReportAt,
    },
  },
  "job.recovered": {
    when: "the first report arrives for a job that the same rule has announced as stale",
    data: {
      job: { ...JOB, staleAt: "2026-01-31T18:45:00.000Z", lastReportAt: EVENT_TIME.toISOString() },
      lastReportAt: EVENT_TIME.toISOString(),
    },
  },
  "job.missing": {
    when: "no new job has the name of an expectation (`expect`) in time",
    data: { expect: { id: "backup", name: "Nightly backup" }, lastSeenAt: "2026-01-30T02:00:00.000Z" },
  },
  "run.completed": { when: "a run of the agent completes", data: { run: RUN } },
  "run.failed": {
    when: "a run fails, after its last attempt",
    data: {
      run: {
        ...RUN,
        status: "failed",
        attempts: 4,
        error: { code: "agent_unavailable", message: "The model server answered 503." },
      },
    },
  },
  "run.dropped": {
    when: "the transform of a mapping drops a request",
    data: { run: { ...RUN, status: "dropped", startedAt: null } },
  },
  "delivery.failed": {
    when: "a delivery is given up, except one that carries this event itself",
    data: {
      delivery: {
        deliveryId: `${RUN.runId}-0`,
        runId: RUN.runId,
        kind: "channel",
        rule: null,
        eventType: null,
        channel: "telegram",
        to: "123456789",
        state: "failed",
        attempts: 0,
        lastStatus: null,
        parts: [],
        maybeTwice: false,
        reason: "The channel telegram is not configured: add channels.telegram.",
        notBefore: null,
        createdAt: "2026-01-31T18:29:58.000Z",
        sentAt: null,
      },
    },
  },
  "gate.opened": { when: "a job asks a question", data: { job: { ...JOB, waitingFor: ["publish"] }, gate: GATE } },
  "gate.answered": {
    when: "a question is answered",
    data: {
      job: JOB,
      gate: { ...GATE, status: "answered", action: "accept", answeredBy: "ada", answeredAt: EVENT_TIME.toISOString() },
    },
  },
  "gate.expired": {
    when: "a question gets no answer in time",
    data: { job: JOB, gate: { ...GATE, status: "expired", action: "decline", answeredBy: "expiry" } },
  },
  test: { when: "somebody tests a rule. It cannot be named in `on`", data: { rule: "sales" } },
};
