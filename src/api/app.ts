import Koa, { type Context } from "koa";
import helmet from "koa-helmet";
import type { ApiDeps } from "./deps.ts";
import { mountDocs } from "./docs.ts";
import { bearerToken, type CountFailure, hookTokenFinder, requireToken } from "./middleware/auth.ts";
import { failures } from "./middleware/failures.ts";
import { requests } from "./middleware/requests.ts";
import { mount, noRoute } from "./mount.ts";
import { toOpenApi } from "./openapi.ts";
import type { AnyRoute } from "./route.ts";
import { hookRoutes } from "./routes/hooks.ts";
import { jobRoutes } from "./routes/jobs.ts";
import { probeRoutes } from "./routes/probes.ts";
import { runRoutes } from "./routes/runs.ts";
import { getStats } from "./routes/stats.ts";
import { stepRoutes } from "./routes/steps.ts";

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
  app.use(failures(deps.log, deps.metrics));
  const { hooks } = deps;
  guardPaths(app, deps, settings);
  const routes: readonly AnyRoute[] = [
    ...jobRoutes,
    ...stepRoutes,
    getStats,
    ...hookRoutes(hooks),
    ...runRoutes,
    ...probeRoutes,
  ];
  const router = mount(routes, deps, { bodyLimit: settings.bodyLimit, strict: settings.strict ?? false });
  mountDocs(router, toOpenApi(routes, { title: "Signalbox", version: settings.version, description: ABOUT }));
  router.get("/metrics", async (ctx) => {
    const { type, text } = await settings.readMetrics();
    ctx.set("Content-Type", type);
    ctx.body = text;
  });
  app.use(router.routes());
  app.use(noRoute(router, (path) => hooks.enabled && isUnder(path, hooks.path)));
  return app;
}

const isUnder = (path: string, base: string): boolean => path === base || path.startsWith(`${base}/`);

/** Who may pass: `/api` with the API token where there is one, hooks with theirs, which may also read runs. */
function guardPaths(app: Koa, { hooks, log }: ApiDeps, { apiToken, countFailure }: AppSettings): void {
  const hookToken = hooks.enabled && hooks.token ? [hooks.token] : [];
  if (apiToken !== undefined) {
    const deps = { countFailure, advice: "Send the API token as `Authorization: Bearer …`." };
    const api = requireToken([apiToken], bearerToken, deps);
    const runs = requireToken([apiToken, ...hookToken], bearerToken, deps);
    const readsRuns = (ctx: Context) => isUnder(ctx.path, "/api/runs") && ["GET", "HEAD"].includes(ctx.method);
    app.use((ctx, next) => (isUnder(ctx.path, "/api") ? (readsRuns(ctx) ? runs : api)(ctx, next) : next()));
  }
  if (hookToken.length > 0) {
    const guard = requireToken(hookToken, hookTokenFinder(log), { countFailure, advice: HOOK_ADVICE });
    app.use((ctx, next) => (isUnder(ctx.path, hooks.path) ? guard(ctx, next) : next()));
  }
}

const HOOK_ADVICE = "Send the hook token as `Authorization: Bearer …` or `x-service-token`.";

const ABOUT =
  "Job tracking: an orchestrator creates a job, the code that does the work reports its steps, everybody reads how far it is.";
