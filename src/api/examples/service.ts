import type { Example } from "./example.ts";

export const getSession: Example = {
  answers: {
    200: {
      needsToken: true,
      access: "full",
      name: "api-token",
      by: "token",
      scopes: ["admin"],
      jobIdPrefixes: null,
      hooksUrl: "/hooks",
      provider: null,
    },
  },
};
export const logIn: Example = { body: { token: "your-api-token" }, answers: {} };
export const logOut: Example = { answers: {} };

export const getHealth: Example = { answers: { 200: { status: "ok" } } };

const checks = (mongodbOk: boolean) => [
  { name: "mongodb", ok: mongodbOk },
  { name: "redis", ok: true },
  { name: "process", ok: true },
];

export const getReadiness: Example = {
  answers: {
    200: { status: "ready", checks: checks(true) },
    503: { status: "not_ready", checks: checks(false) },
  },
};

export const listAudit: Example = {
  answers: {
    200: {
      entries: [
        {
          auditId: "0d7c2b1e-93a5-4c8e-8f1d-2f4b7a6c9e10",
          at: "2026-02-03T10:15:30.000Z",
          actor: "cookie:ci",
          action: "job.delete",
          target: "report-2026-02",
          address: "192.0.2.7",
          requestId: "f3a1c0de",
          serviceRequestId: "5b0e9a52-7c1d-4c39-9d53-0a7de0c2f6b1",
        },
      ],
      nextCursor: null,
    },
  },
};

export const getSettings: Example = {
  answers: {
    200: {
      versions: { signalbox: "2.0.0", node: "24.4.1", mongodb: "8.0.12", redis: "7.4.1", warning: null },
      health: { checks: checks(true), workers: 1 },
      mappings: [
        {
          mapping: "ci",
          preset: null,
          action: "agent",
          address: "https://jobs.example.com/hooks/ci",
          source: null,
          when: { "payload.status": "failed" },
          sessionKey: "hook:ci:{{branch}}",
        },
      ],
      rules: ["ops"],
      config: { server: { port: 3000, publicUrl: "https://jobs.example.com", apiToken: "[redacted]" } },
    },
  },
};
