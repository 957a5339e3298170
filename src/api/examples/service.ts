import type { Example } from "./example.ts";

export const getSession: Example = { answers: { 200: { needsToken: true, access: "full" } } };
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
