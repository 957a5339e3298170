import Type from "typebox";
import { withTimeout } from "../../shared/timeouts.ts";
import * as s from "../../wire/blocks.ts";
import { ReadinessCheck } from "../../wire/settings.ts";
import type { ApiDeps, Probe } from "../deps.ts";
import * as examples from "../examples/service.ts";
import { route } from "../routing/route.ts";

const PROBE_TIMEOUT_MS = 3_000;

const getHealth = route({
  method: "get",
  path: "/healthz",
  operationId: "getHealth",
  scopes: [],
  tag: "operations",
  summary: "Check that the process is alive",
  description: "Answers 200 as long as the process can answer at all. Use it as a liveness probe.",
  example: examples.getHealth,
  schemas: {},
  answers: { 200: Type.Object({ status: Type.Literal("ok", { description: "Always `ok`." }) }, s.named("Health")) },
  errors: [],
  handler: async () => ({ status: 200, body: { status: "ok" as const } }),
});

const Readiness = Type.Object(
  {
    status: Type.Enum(["ready", "degraded", "not_ready"], {
      description:
        "Whether the process can serve requests. `degraded`: it accepts reports and hooks, and what needs Redis waits.",
    }),
    checks: Type.Array(ReadinessCheck, { description: "One entry for each dependency." }),
  },
  s.named("Readiness"),
);

const getReadiness = route({
  method: "get",
  path: "/readyz",
  operationId: "getReadiness",
  scopes: [],
  tag: "operations",
  summary: "Check that the process is ready",
  description:
    "Answers 200 while the process can serve requests, which needs MongoDB alone, and 503 while it cannot; `checks` names the dependency that is missing. Use it as a readiness probe of a load balancer or Kubernetes.",
  example: examples.getReadiness,
  schemas: {},
  answers: { 200: Readiness, 503: Readiness },
  errors: [],
  async handler(_input, deps) {
    const checks = await runProbes(deps);
    const missing = checks.filter(({ ok }) => !ok);
    if (missing.some(({ name }) => name !== "redis"))
      return { status: 503, body: { status: "not_ready" as const, checks } };
    return { status: 200, body: { status: missing.length > 0 ? ("degraded" as const) : ("ready" as const), checks } };
  },
});

/** Runs the checks of /readyz. Never rejects. */
export const runProbes = (deps: ApiDeps) => Promise.all([...deps.probes, shutdownProbe(deps)].map(runProbe));

function shutdownProbe({ isStopping }: ApiDeps): Probe {
  return { name: "process", check: async () => isStopping() && Promise.reject(new Error("stopping")) };
}

/** Runs one check. Never rejects. */
export async function runProbe({ name, check }: Probe): Promise<{ name: string; ok: boolean }> {
  const ok = await withTimeout(check(), PROBE_TIMEOUT_MS, name).then(
    () => true,
    () => false,
  );
  return { name, ok };
}

export const probeRoutes = [getHealth, getReadiness];
