import Type from "typebox";
import { withTimeout } from "../../shared/timeouts.ts";
import type { ApiDeps, Probe } from "../deps.ts";
import * as examples from "../examples/service.ts";
import { route } from "../route.ts";

const closed = { additionalProperties: false } as const;
const PROBE_TIMEOUT_MS = 3_000;

const getHealth = route({
  method: "get",
  path: "/healthz",
  operationId: "getHealth",
  tag: "operations",
  summary: "Check that the process is alive",
  description: "Answers 200 as long as the process can answer at all. Use it as a liveness probe.",
  example: examples.getHealth,
  schemas: {},
  answers: { 200: Type.Object({ status: Type.Literal("ok", { description: "Always `ok`." }) }, closed) },
  errors: [],
  handler: async () => ({ status: 200, body: { status: "ok" as const } }),
});

const Readiness = Type.Object(
  {
    status: Type.Enum(["ready", "not_ready"], { description: "Whether the process can serve requests." }),
    checks: Type.Array(
      Type.Object(
        {
          name: Type.String({ description: "The checked part: `mongodb`, `redis` or `process`." }),
          ok: Type.Boolean({ description: "Whether the check succeeds." }),
        },
        closed,
      ),
      { description: "One entry for each dependency." },
    ),
  },
  closed,
);

const getReadiness = route({
  method: "get",
  path: "/readyz",
  operationId: "getReadiness",
  tag: "operations",
  summary: "Check that the process is ready",
  description:
    "Answers 200 when the process can serve requests and 503 when it cannot; `checks` names the dependency that is missing. Use it as a readiness probe of a load balancer or Kubernetes.",
  example: examples.getReadiness,
  schemas: {},
  answers: { 200: Readiness, 503: Readiness },
  errors: [],
  async handler(_input, deps) {
    const checks = await Promise.all([...deps.probes, shutdownProbe(deps)].map(runProbe));
    const ready = checks.every(({ ok }) => ok);
    if (ready) return { status: 200, body: { status: "ready" as const, checks } };
    return { status: 503, body: { status: "not_ready" as const, checks } };
  },
});

function shutdownProbe({ isStopping }: ApiDeps): Probe {
  return { name: "process", check: async () => isStopping() && Promise.reject(new Error("stopping")) };
}

async function runProbe({ name, check }: Probe): Promise<{ name: string; ok: boolean }> {
  const ok = await withTimeout(check(), PROBE_TIMEOUT_MS, name).then(
    () => true,
    () => false,
  );
  return { name, ok };
}

export const probeRoutes = [getHealth, getReadiness];
