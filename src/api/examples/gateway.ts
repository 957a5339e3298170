import { Delivery } from "../../wire/delivery.ts";
import { Run } from "../../wire/runs/run.ts";
import { type Example, withNulls } from "./example.ts";

const RUN_ID = "7d3c9b1e-2f64-4a0e-8a55-0c9e6f1b2d34";
const EVENT_ID = "5f0c2b7a-91d4-4c3e-b6a8-d2e1f4a9c001";

const DELIVERY = withNulls(Delivery, {
  deliveryId: `${RUN_ID}-0`,
  runId: RUN_ID,
  kind: "channel",
  channel: "telegram",
  to: "123456789",
  preview: "The build failed in the test stage: two tests of the parser fail.",
  state: "sent",
  attempts: 1,
  parts: [{ state: "sent", id: "4711" }],
  maybeTwice: false,
  createdAt: "2026-01-31T18:00:09.000Z",
  sentAt: "2026-01-31T18:00:10.000Z",
} as const);

const FAILED_DELIVERY = {
  ...DELIVERY,
  state: "failed",
  parts: [],
  reason: "The channel telegram is not configured: add channels.telegram.",
  sentAt: null,
} as const;

const RUN = withNulls(Run, {
  runId: RUN_ID,
  kind: "agent",
  name: "CI",
  mapping: "ci",
  sessionKey: "hook:ci",
  agentId: null,
  status: "completed",
  attempts: 1,
  reply: "The build failed in the test stage: two tests of the parser fail.",
  replyCutOff: false,
  usage: { inputTokens: 1_840, cachedInputTokens: 1_024, outputTokens: 212, reasoningTokens: 128, costUsd: null },
  deliveries: [DELIVERY],
  returnOf: [],
  createdAt: "2026-01-31T18:00:00.000Z",
  startedAt: "2026-01-31T18:00:01.000Z",
  endedAt: "2026-01-31T18:00:09.000Z",
} as const);

const QUEUED_RUN = {
  ...RUN,
  status: "queued",
  attempts: 0,
  reply: null,
  usage: null,
  deliveries: [],
  endedAt: null,
} as const;

const CANCELLED_RUN = {
  ...QUEUED_RUN,
  status: "failed",
  error: { code: "cancelled", message: "The run was cancelled." },
  endedAt: "2026-01-31T18:00:05.000Z",
} as const;

export const wake: Example = {
  body: { text: "The nightly backup failed.", mode: "now" },
  answers: { 200: { ok: true, mode: "now", eventId: EVENT_ID } },
};

export const runAgent: Example = {
  body: { message: "Summarize the open incidents in three sentences.", name: "Incidents", deliver: false },
  answers: {
    200: { ok: true, runId: RUN_ID, sessionKey: "hook:ci", run: { ...RUN, sessionKey: null, deliveries: [] } },
    202: { ok: true, runId: RUN_ID, sessionKey: "hook:ci" },
  },
};

export const listBudgets: Example = {
  answers: {
    200: {
      budgets: [
        {
          id: "daily",
          per: "day",
          mapping: null,
          agentId: null,
          // biome-ignore lint/suspicious/noThenProperty: a text, which nothing calls
          then: "ask",
          period: "2026-01-31",
          state: "within",
          raises: 0,
          limits: { usd: 5, tokens: null, minutes: null },
          spent: { usd: 1.25, tokens: 84_000, minutes: 12.5 },
          byMapping: [{ mapping: "ci", usd: 1.25, tokens: 84_000, minutes: 12.5 }],
        },
      ],
    },
  },
};

export const testHook: Example = { answers: { 202: { runId: RUN_ID } } };

export const callHook: Example = {
  params: { name: "ci" },
  body: { branch: "main", build: { id: 7, result: "failed" } },
  answers: {
    200: { challenge: "3eZbrw1aBm2rZgRNFdxV2595E9CY3gmdALWMmHkvFXO7tYXAYM8P" },
    202: { ok: true, runId: RUN_ID, runIds: [RUN_ID] },
  },
};

const runParams = { runId: RUN_ID };

export const listRuns: Example = { answers: { 200: { runs: [RUN], nextCursor: null } } };
export const getRunStats: Example = {
  answers: {
    200: {
      runs: { total: 42, queued: 1, waiting: 0, running: 2, completed: 36, failed: 3, dropped: 0 },
      capped: false,
    },
  },
};
export const watchRun: Example = {
  params: { runId: RUN_ID },
  answers: { 200: { event: "message.delta", data: { delta: "The build failed" }, id: "1769882402000-0" } },
};

export const getRun: Example = { params: runParams, answers: { 200: RUN } };
export const retryRun: Example = { params: runParams, answers: { 202: QUEUED_RUN } };
export const repeatRun: Example = {
  params: runParams,
  answers: { 202: { ...QUEUED_RUN, runId: "b0a7c1d2-63f5-4e0c-9d1a-7f2e8c4b5a60", startedAt: null, againOf: RUN_ID } },
};
export const cancelRun: Example = { params: runParams, answers: { 200: CANCELLED_RUN } };

export const getRunRequest: Example = {
  params: runParams,
  answers: {
    200: {
      request: {
        message: "Build 7 of main failed.",
        wakeMode: "now",
        deliver: true,
        channel: "last",
        to: null,
        model: null,
        thinking: null,
        timeoutSeconds: 600,
        trackAsJob: false,
        instructions: "Say in one sentence what broke.",
      },
      call: { mapping: "ci", path: "ci", payload: null },
    },
  },
};

export const listSessions: Example = {
  answers: {
    200: {
      sessions: [{ sessionKey: "hook:ci", agentId: null, lastUsedAt: "2026-01-31T18:00:01.000Z", busy: false }],
      nextCursor: null,
    },
  },
};

export const listWaitingEvents: Example = {
  answers: {
    200: {
      events: [
        {
          eventId: EVENT_ID,
          text: "The nightly backup failed.",
          source: "wake hook",
          createdAt: "2026-01-31T18:00:00.000Z",
        },
      ],
      waiting: 1,
    },
  },
};

export const deleteWaitingEvent: Example = { params: { eventId: EVENT_ID }, answers: { 200: { ok: true } } };

const message = (n: number, role: string, content: string) => ({
  messageId: `${RUN_ID}-0-${n}`,
  runId: RUN_ID,
  role,
  content,
  returnOf: [],
  createdAt: "2026-01-31T18:00:09.000Z",
});

export const listMessages: Example = {
  params: { sessionKey: "hook:ci" },
  answers: {
    200: {
      messages: [message(0, "user", "Which builds failed today?"), message(1, "assistant", "Only build 7 of main.")],
      nextCursor: null,
    },
  },
};

const deliveryParams = { deliveryId: DELIVERY.deliveryId };

export const listDeliveries: Example = {
  answers: { 200: { deliveries: [{ ...DELIVERY, runName: "CI main" }], nextCursor: null } },
};

export const countDeliveries: Example = {
  answers: { 200: { total: 214, pending: 1, sent: 210, failed: 3, capped: false } },
};

export const retryDelivery: Example = {
  params: deliveryParams,
  answers: { 202: { ...FAILED_DELIVERY, state: "pending", reason: null } },
};

export const cancelDelivery: Example = {
  params: deliveryParams,
  answers: { 200: { ...FAILED_DELIVERY, reason: "It was cancelled." } },
};

export const getGmail: Example = {
  answers: {
    200: {
      gmail: {
        ok: true,
        problems: [],
        account: "ada@example.org",
        listener: "host-1:4242",
        lagSeconds: 12,
        listedAt: "2026-01-31T18:00:00.000Z",
        lastMailAt: "2026-01-31T17:40:00.000Z",
        lastNoticeAt: "2026-01-31T17:40:00.000Z",
        watchExpiresAt: "2026-02-07T06:00:00.000Z",
        faults: { mails: null, notices: null, watch: null },
        lastError: null,
      },
    },
  },
};
