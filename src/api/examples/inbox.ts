import type { Example } from "./example.ts";

const REQUEST_ID = "b4a0c1de-5a7e-4d63-9a45-3f1f1c0e7a21";
const RUN_ID = "7d3c9b1e-2f64-4a0e-8a55-0c9e6f1b2d34";

const ROW = {
  requestId: REQUEST_ID,
  createdAt: "2026-01-31T18:00:00.000Z",
  hook: "github",
  mapping: "github",
  event: "issues · opened",
  object: "octo/shop",
  outcome: "accepted",
  status: 202,
  code: null,
  reason: null,
  signature: { type: "github", verdict: "valid" },
  repeated: false,
  address: "192.0.2.7",
  contentType: "application/json",
  bodyBytes: 33,
  runIds: [RUN_ID],
  jobIds: [],
} as const;

const REFUSED = {
  ...ROW,
  requestId: "0c6b3f5a-7a3e-4b0e-8f57-d2e1f4a9c001",
  outcome: "refused",
  status: 401,
  code: "unauthorized",
  reason: "The signature does not match: other secret, or the body was changed on its way.",
  signature: { type: "github", verdict: "wrong" },
  event: null,
  object: null,
  runIds: [],
  jobIds: [],
} as const;

const PREVIEW = {
  dryRun: true,
  mapping: "github",
  reason: null,
  considered: [
    {
      mapping: "github-push",
      unmet: "headers.x-github-event",
      reason: 'headers.x-github-event is "issues", not "push"',
      conditions: [{ condition: 'headers.x-github-event is "push"', isMet: false, found: '"issues"' }],
    },
    { mapping: "github", unmet: null, reason: null, conditions: [] },
  ],
  transform: null,
  runCount: 1,
  runs: [
    {
      kind: "agent",
      name: "Issue 7",
      message: "The issue 7 was opened.",
      sessionKey: "hook:github:7",
      wakeMode: "now",
      deliver: true,
      channel: "last",
      to: null,
      model: null,
      reports: null,
      missingValues: [{ path: "issue.titel", didYouMean: "issue.title" }],
      values: [
        { path: "issue.number", value: "7" },
        { path: "issue.titel", value: null },
      ],
      error: null,
    },
  ],
} as const;

const NO_REQUESTS = { accepted: 0, dropped: 0, failed: 0, filtered: 0, refused: 0 };

export const listHooks: Example = {
  answers: {
    200: {
      hooks: [
        {
          hook: "github",
          mappings: ["github"],
          sender: "github",
          address: "https://signalbox.example.com/hooks/github",
          last: ROW,
          hours: [...Array.from({ length: 23 }, () => NO_REQUESTS), { ...NO_REQUESTS, accepted: 1 }],
        },
      ],
    },
  },
};

export const listHookRequests: Example = { answers: { 200: { requests: [REFUSED, ROW], nextCursor: null } } };

export const getHookRequest: Example = {
  params: { requestId: REQUEST_ID },
  answers: {
    200: {
      ...ROW,
      url: "/hooks/github",
      headers: { "content-type": "application/json", "x-github-event": "issues" },
      query: {},
      body: '{"action":"opened","number":7}',
      bodyEncoding: "utf8",
      payload: { action: "opened", number: 7 },
    },
  },
};

export const replayHookRequest: Example = {
  params: { requestId: REQUEST_ID },
  body: { dryRun: true },
  answers: { 200: PREVIEW, 202: { ok: true, mapping: "github", runId: RUN_ID, runIds: [RUN_ID] } },
};

export const tryHookRequest: Example = {
  body: { hook: "github", headers: { "x-github-event": "issues" }, body: '{"action":"opened","number":7}' },
  answers: { 200: PREVIEW },
};

export const verifyHook: Example = { params: { name: "meta" }, answers: { 200: "1158201444" } };
