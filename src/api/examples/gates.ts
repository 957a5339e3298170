import type { Example } from "./example.ts";

const params = { jobId: "import-2041", key: "publish" };

const QUESTION = {
  title: "Publish 10,000 rows to the shop?",
  message: "12 prices differ by more than half.",
  requestedSchema: {
    type: "object",
    properties: { batch: { type: "integer", title: "Rows at a time", minimum: 1, default: 500 } },
    required: ["batch"],
  },
} as const;

const GATE = {
  gateId: "5e3d0f1c-7a3a-4b0e-8d65-0c7a4e2f9b11",
  jobId: "import-2041",
  key: "publish",
  revision: 1,
  ...QUESTION,
  status: "open",
  action: null,
  content: null,
  answeredBy: null,
  createdAt: "2026-01-31T18:02:00.000Z",
  answeredAt: null,
  expiresAt: null,
  onExpiry: "decline",
} as const;

const ANSWERED = {
  ...GATE,
  status: "answered",
  action: "accept",
  content: { batch: 500 },
  answeredBy: "Ann",
  answeredAt: "2026-01-31T18:20:00.000Z",
} as const;

export const putGate: Example = { params, body: QUESTION, answers: { 201: GATE, 200: GATE } };

export const getGate: Example = { params, answers: { 200: ANSWERED } };

export const answerGate: Example = {
  params,
  body: { action: "accept", content: { batch: 500 }, answeredBy: "Ann" },
  answers: { 200: ANSWERED },
};

export const withdrawGate: Example = { params, answers: { 200: { ...GATE, status: "withdrawn" } } };

export const listGates: Example = {
  answers: { 200: { gates: [{ ...GATE, jobName: "Monthly report" }], nextCursor: null } },
};
