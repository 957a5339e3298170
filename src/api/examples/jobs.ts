import { JobView } from "../../wire/job.ts";
import { type Example, withNulls } from "./example.ts";

const params = { jobId: "import-2041" };
const stepParams = { ...params, stepKey: "load" };

const RECEIPT = {
  stepId: "0b0f1a52-5c0e-4f55-9d6e-3c2a1f0d7e11",
  jobId: "import-2041",
  stepKey: "load",
  stepName: "Load rows",
  status: "running",
  progress: 40,
  message: "4,000 of 10,000 rows",
  createdAt: "2026-01-31T18:00:05.000Z",
  updatedAt: "2026-01-31T18:01:20.000Z",
  startedAt: "2026-01-31T18:00:05.000Z",
} as const;

const STEP_SUMMARY = {
  ...RECEIPT,
  attempts: 1,
  lastReportAt: "2026-01-31T18:01:20.000Z",
  links: [],
  stale: false,
} as const;
const STEP = { ...STEP_SUMMARY, output: null } as const;
const COMPLETED_STEP = { ...STEP, status: "completed", progress: 100, output: { rows: 10_000 }, durationMs: 182_000 };

const NEW_JOB = withNulls(JobView, {
  jobId: "import-2041",
  name: "Nightly import",
  input: { file: "orders.csv" },
  metadata: { team: "data" },
  status: "running",
  progress: 0,
  createdAt: "2026-01-31T18:00:00.000Z",
  updatedAt: "2026-01-31T18:00:00.000Z",
  stale: false,
  staleAt: "2026-01-31T18:15:00.000Z",
  waitingFor: [],
  returns: [],
  stepCounts: { running: 0, completed: 0, failed: 0 },
  links: [],
  children: { running: 0, completed: 0, failed: 0 },
} as const);

const JOB = {
  ...NEW_JOB,
  progress: 20,
  message: "4,000 of 10,000 rows",
  updatedAt: "2026-01-31T18:01:20.000Z",
  lastReportAt: "2026-01-31T18:01:20.000Z",
  staleAt: "2026-01-31T18:16:20.000Z",
  currentStep: STEP_SUMMARY,
  stepCounts: { running: 1, completed: 0, failed: 0 },
  links: [{ title: "Orders", url: "https://shop.example.com/orders/2041" }],
} as const;

const OK = { 200: { ok: true } };

export const putJob: Example = {
  params,
  body: { name: "Nightly import", input: { file: "orders.csv" }, metadata: { team: "data" } },
  answers: { 201: NEW_JOB, 200: JOB },
};

export const getJob: Example = {
  params,
  answers: { 200: JOB },
};
export const listJobs: Example = { answers: { 200: { jobs: [JOB], nextCursor: null } } };
export const cancelJob: Example = {
  params,
  body: { reason: "The orders were imported by hand" },
  answers: {
    202: {
      ...JOB,
      cancel: { requestedAt: "2026-01-31T18:01:30.000Z", reason: "The orders were imported by hand" },
    },
  },
};
export const deleteJob: Example = { params, answers: OK };
export const deleteJobs: Example = { answers: { 200: { ok: true, deleted: 12 } } };

export const reportStep: Example = {
  params: stepParams,
  body: {
    stepName: "Load rows",
    progress: 40,
    jobProgressStart: 0,
    jobProgressEnd: 50,
    message: "4,000 of 10,000 rows",
  },
  answers: { 201: RECEIPT, 200: RECEIPT },
};

export const listSteps: Example = { params, answers: { 200: { steps: [STEP], nextCursor: null } } };
export const getStep: Example = { params: stepParams, answers: { 200: COMPLETED_STEP } };

export const appendLog: Example = {
  params: stepParams,
  text: "4,000 of 10,000 rows\nrow 4,001: no price, skipped\n",
  otherTexts: {
    "application/x-ndjson": '{"at":"2026-01-31T18:01:20Z","level":"warning","text":"row 4,001: no price, skipped"}\n',
  },
  answers: {},
};

export const readLog: Example = {
  params: stepParams,
  otherTexts: { "text/plain": "4,000 of 10,000 rows\n" },
  answers: {
    200: {
      lines: [{ seq: 1, at: "2026-01-31T18:01:20.000Z", level: null, text: "4,000 of 10,000 rows" }],
      next: 1,
      dropped: { lines: 0, bytes: 0 },
    },
  },
};

export const getStats: Example = {
  answers: {
    200: {
      jobs: { total: 128, running: 3, completed: 120, failed: 5, stale: 1 },
      lastHour: { created: 12, completed: 10, failed: 1 },
      capped: false,
      usageLastHour: {
        inputTokens: 48_210,
        cachedInputTokens: 30_720,
        outputTokens: 6_104,
        reasoningTokens: 2_816,
        costUsd: null,
      },
    },
  },
};

export const getJobErrors: Example = {
  answers: {
    200: {
      errors: [
        {
          message: "row N: no price for “…”",
          count: 7,
          newest: { jobId: "import-2041", at: "2026-03-01T09:14:00.000Z" },
        },
      ],
    },
  },
};

const FIGURES = { started: 12, completed: 11, failed: 1, p50Seconds: 41.8, p95Seconds: 129 };
const NO_JOBS = { started: 0, completed: 0, failed: 0, p50Seconds: null, p95Seconds: null };

export const getJobHistory: Example = {
  answers: {
    200: {
      span: "day",
      periodSeconds: 3_600,
      periods: [
        { start: "2026-03-01T08:00:00.000Z", ...NO_JOBS },
        { start: "2026-03-01T09:00:00.000Z", ...FIGURES },
      ],
      names: [{ name: "Nightly report", ...FIGURES }],
    },
  },
};

export const getHistory: Example = {
  answers: {
    200: {
      names: [
        {
          name: "Nightly report",
          runs: [
            {
              jobId: "report-2026-03-01",
              status: "failed",
              durationMs: 41_800,
              startedAt: "2026-03-01T03:00:00.000Z",
            },
          ],
          usual: { p50Ms: 41_800, p95Ms: 129_000, count: 12 },
          lastFailure: { jobId: "report-2026-03-01", at: "2026-03-01T03:00:41.800Z", message: "No price for 7 rows" },
          nextDueAt: "2026-03-02T05:00:00.000Z",
        },
      ],
      nextCursor: null,
    },
  },
};

const event = (name: string, data: object) => ({ event: name, data, id: "1772442000000-0" });
const { input: _input, metadata: _metadata, output: _output, ...EVENT_JOB } = JOB;

export const watchEvents: Example = {
  answers: { 200: event("job", EVENT_JOB) },
};

export const watchJob: Example = {
  params,
  answers: { 200: event("step", STEP_SUMMARY) },
};

const PING = { jobId: "nightly-backup" };
const PONG = { 200: "ok\n" };

export const ping: Example = { params: PING, text: "Copying /srv", answers: PONG };

export const pingState: Example = { params: { ...PING, state: "40" }, text: "4 of 10 folders", answers: PONG };

export const pingExit: Example = { params: { ...PING, code: 0 }, text: "10 folders copied", answers: PONG };

export const shareJob: Example = {
  params,
  body: { ttlSeconds: 86_400, include: ["output"] },
  answers: {
    201: {
      url: "https://jobs.example.com/s/sbs_WyJyZXBvcnQtMjAyNi0wMiJd.c2VhbC1vZi10aGUtdG9rZW4tYXMtYmFzZTY0dXJsLi4uLi4",
      expiresAt: "2026-02-03T11:15:30.000Z",
    },
  },
};

export const revokeShares: Example = { params, answers: OK };
export const pingLog: Example = { params: PING, text: "skipped /srv/tmp\n", answers: PONG };

export const createJobToken: Example = {
  params,
  body: { scope: "report", ttlSeconds: 3_600 },
  answers: {
    201: {
      token: "sbj_WyJyZXBvcnQtMjAyNi0wMiJd.c2VhbC1vZi10aGUtdG9rZW4tYXMtYmFzZTY0dXJsLi4uLi4",
      expiresAt: "2026-02-03T11:15:30.000Z",
    },
  },
};

export const postLineage: Example = {
  body: {
    eventType: "START",
    eventTime: "2026-01-31T18:00:05.000Z",
    run: { runId: "0197f7a4-6a7c-7c39-8a53-1f0f3f6d2c11" },
    job: { namespace: "airflow", name: "orders" },
    producer: "https://github.com/apache/airflow",
    schemaURL: "https://openlineage.io/spec/2-0-2/OpenLineage.json#/definitions/RunEvent",
  },
  answers: { 201: "" },
};
