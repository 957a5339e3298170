import Type from "typebox";
import { withTimeout } from "../../shared/timeouts.ts";
import type { ApiDeps, Probe } from "../deps.ts";
import { route } from "../route.ts";

const closed = { additionalProperties: false } as const;
const PROBE_TIMEOUT_MS = 3_000;

const getHealth = route({
  method: "get",
  path: "/healthz",
  operationId: "getHealth",
  tag: "operations",
  summary: "The process lives",
  schemas: {},
  answers: { 200: Type.Object({ status: Type.Literal("ok") }, closed) },
  errors: [],
  handler: async () => ({ status: 200, body: { status: "ok" as const } }),
});

const Readiness = Type.Object(
  {
    status: Type.Enum(["ready", "not_ready"]),
    checks: Type.Array(
      Type.Object({ name: Type.String({ description: "What is looked at." }), ok: Type.Boolean() }, closed),
    ),
  },
  closed,
);

const getReadiness = route({
  method: "get",
  path: "/readyz",
  operationId: "getReadiness",
  tag: "operations",
  summary: "Whether the process can serve, and which dependency is missing if not",
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
