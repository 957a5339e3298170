import Koa from "koa";
import helmet from "koa-helmet";
import type { ApiDeps } from "./deps.ts";
import { mountDocs } from "./docs.ts";
import { type CountFailure, requireToken } from "./middleware/auth.ts";
import { failures } from "./middleware/failures.ts";
import { requests } from "./middleware/requests.ts";
import { mount, noRoute } from "./mount.ts";
import { toOpenApi } from "./openapi.ts";
import type { AnyRoute } from "./route.ts";
import { jobRoutes } from "./routes/jobs.ts";
import { probeRoutes } from "./routes/probes.ts";
import { getStats } from "./routes/stats.ts";
import { stepRoutes } from "./routes/steps.ts";

const routes: readonly AnyRoute[] = [...jobRoutes, ...stepRoutes, getStats, ...probeRoutes];

export interface AppSettings {
  readonly version: string;
  readonly apiToken?: string | undefined;
  readonly trustProxy: number;
  readonly bodyLimit: number;
  readonly strict?: boolean;
  readonly countFailure: CountFailure;
  /** The Prometheus text of all processes that share the port. */
  readonly readMetrics: () => Promise<{ type: string; text: string }>;
}

/** The whole API as a Koa application that listens nowhere yet. */
export function buildApp(deps: ApiDeps, settings: AppSettings): Koa {
  const app = new Koa({ proxy: settings.trustProxy > 0, maxIpsCount: settings.trustProxy });
  app.on("error", (error: Error) => deps.log.debug({ err: { message: error.message } }, "a connection broke"));
  app.use(requests(deps.log, deps.metrics));
  app.use(
    helmet({
      contentSecurityPolicy: { useDefaults: false, directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] } },
      strictTransportSecurity: false, // whoever ends TLS in front knows whether it is for good
    }),
  );
  app.use(failures(deps.log));
  const { apiToken } = settings;
  if (apiToken !== undefined) {
    const guard = requireToken(apiToken, settings.countFailure, deps.metrics);
    app.use((ctx, next) => (isApi(ctx.path) ? guard(ctx, next) : next()));
  }
  const router = mount(routes, deps, { bodyLimit: settings.bodyLimit, strict: settings.strict ?? false });
  mountDocs(router, toOpenApi(routes, { title: "Signalbox", version: settings.version, description: ABOUT }));
  router.get("/metrics", async (ctx) => {
    const { type, text } = await settings.readMetrics();
    ctx.set("Content-Type", type);
    ctx.body = text;
  });
  app.use(router.routes());
  app.use(noRoute(router));
  return app;
}

const isApi = (path: string): boolean => path === "/api" || path.startsWith("/api/");

const ABOUT =
  "Job tracking: an orchestrator creates a job, the code that does the work reports its steps, everybody reads how far it is.";
