/** Records for the examples of notifications, as receivers read them. */

/** The time of the examples. */
export const SAMPLE_TIME = "2026-01-31T18:30:00.000Z";

export const JOB = {
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
  returnTo: null,
  returns: [],
  currentStep: null,
  stepCounts: { running: 1, completed: 2, failed: 0 },
  links: [],
  traceparent: null,
  children: { running: 0, completed: 0, failed: 0 },
  parentJobId: null,
};

export const STEP = {
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
  links: [],
  stale: true,
};

export const RUN = {
  runId: "7d3c9b1e-2f64-4a0e-8a55-0c9e6f1b2d34",
  kind: "agent",
  name: "CI main",
  mapping: "ci",
  sessionKey: "hook:ci",
  agentId: null,
  status: "completed",
  attempts: 1,
  error: null,
  createdAt: "2026-01-31T18:00:00.000Z",
  startedAt: "2026-01-31T18:00:01.000Z",
  endedAt: SAMPLE_TIME,
};

export const DELIVERY = {
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
};

export const GATE = {
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
  createdAt: SAMPLE_TIME,
  answeredAt: null,
  expiresAt: "2026-01-31T20:30:00.000Z",
  onExpiry: "decline",
};
