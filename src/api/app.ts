import Koa from "koa";
import { compileMappings, hookName, mappingsNamed } from "../hooks/mappings/mapping.ts";
import { isLoopback } from "../shared/address.ts";
import { BUILT_IN } from "../shared/config/checks/mappings.ts";
import { Doorkeeper, SESSION_PATH } from "./auth/access.ts";
import { hostGuard } from "./auth/host.ts";
import { admitSender, hookGuard, ignoreTrailingSlash } from "./auth/mappedSender.ts";
import { type CountFailure, Gate, hookTokens } from "./auth/tokens.ts";
import { DASHBOARD, mountDashboard } from "./dashboard.ts";
import type { ApiDeps } from "./deps.ts";
import { mountDocs } from "./docs.ts";
import { withoutMappingNames } from "./metrics/metrics.ts";
import { failures } from "./middleware/failures.ts";
import { securityHeaders } from "./middleware/headers.ts";
import { MemoryBudget } from "./middleware/memoryBudget.ts";
import { checkTarget, requests } from "./middleware/requests.ts";
import { mount, noRoute } from "./mount.ts";
import { toOpenApi } from "./openapi.ts";
import { BOARD_PATH, queueBoard } from "./queueBoard.ts";
import type { AnyRoute } from "./route.ts";
import { channelRoutes } from "./routes/channels.ts";
import { deliveryRoutes } from "./routes/deliveries.ts";
import { eventRoutes } from "./routes/events.ts";
import { hookRoutes } from "./routes/hooks.ts";
import { jobRoutes } from "./routes/jobs.ts";
import { sessionRoutes } from "./routes/login.ts";
import { mappedHookRoute } from "./routes/mappedHooks.ts";
import { probeRoutes } from "./routes/probes.ts";
import { runRoutes } from "./routes/runs.ts";
import { sessionListRoutes } from "./routes/sessions.ts";
import { getStats } from "./routes/stats.ts";
import { stepRoutes } from "./routes/steps.ts";

export interface AppSettings {
  readonly version: string;
  /** Where it will listen. */
  readonly host: string;
  /** Names that requests may be addressed to where no token is asked for. */
  readonly allowedHosts: readonly string[];
  readonly apiToken?: string | undefined;
  readonly readOnlyToken?: string | undefined;
  readonly trustProxy: number;
  readonly bodyLimit: number;
  readonly bodies?: MemoryBudget;
  readonly strict?: boolean;
  readonly countFailure: CountFailure;
  /** How long the rest of a refused body is awaited. */
  readonly restOfBodyMs: number;
  /** The Prometheus text of all processes that share the port. */
  readonly readMetrics: () => Promise<{ type: string; text: string }>;
}

/** The whole API as a Koa application that listens nowhere yet. */
export function buildApp(deps: ApiDeps, settings: AppSettings): Koa {
  const app = new Koa({ proxy: settings.trustProxy > 0, maxIpsCount: settings.trustProxy });
  app.on("error", (error: Error) => deps.log.debug({ err: { message: error.message } }, "a connection broke"));
  app.use(requests(deps.log, deps.metrics));
  const { hooks, log, clock } = deps;
  const isHook = (path: string) => hooks.enabled && isUnder(path, hooks.path);
  app.use(securityHeaders((path) => isUnder(path, "/api") || isHook(path)));
  app.use(failures(log, deps.metrics, settings.restOfBodyMs));
  app.use(checkTarget);
  const { apiToken, host, allowedHosts } = settings;
  if (apiToken === undefined && (isLoopback(host) || allowedHosts.length > 0)) {
    const guard = hostGuard(allowedHosts);
    app.use((ctx, next) => (isHook(ctx.path) ? next() : guard(ctx, next))); // senders of hooks have a token
  }
  const mappings = hooks.enabled ? compileMappings(hooks) : [];
  const gate = new Gate(hooks.enabled && hooks.token ? [hooks.token] : [], {
    ...{ find: hookTokens, countFailure: settings.countFailure, advice: HOOK_ADVICE },
  });
  const bodies = settings.bodies ?? new MemoryBudget();
  const senders = { mappings, basePath: hooks.path, gate, clock, log, bodies };
  const door = new Doorkeeper(
    { ...settings, hookToken: hooks.enabled ? hooks.token : undefined },
    clock,
    deps.stores.endedLogins,
  );
  const board = queueBoard(deps.queues);
  const guardHook = hookGuard(senders);
  app.use((ctx, next) => {
    const { path } = ctx;
    // What an access is needed for is kept by no browser and no proxy, whatever the answer.
    if (["/api", BOARD_PATH, SESSION_PATH].some((base) => isUnder(path, base))) ctx.set("Cache-Control", "no-store");
    if (isUnder(path, "/api")) return door.guard(ctx, next);
    if (isHook(path)) return ignoreTrailingSlash(ctx, () => guardHook(ctx, next));
    if (isUnder(path, BOARD_PATH)) return door.pageGuard(ctx, () => board(ctx, next));
    return path === SESSION_PATH ? door.visit(ctx, next) : next();
  });
  const routes: readonly AnyRoute[] = [
    ...jobRoutes,
    ...stepRoutes,
    ...eventRoutes,
    getStats,
    ...hookRoutes(hooks),
    ...(mappings.length > 0 ? [mappedHookRoute(hooks, Math.max(...mappings.map((one) => one.maxBodyBytes)))] : []),
    ...runRoutes,
    ...sessionListRoutes,
    ...deliveryRoutes,
    ...channelRoutes,
    ...sessionRoutes,
    ...probeRoutes,
  ];
  const router = mount(
    routes,
    deps,
    { bodyLimit: settings.bodyLimit, bodies, strict: settings.strict ?? false },
    { callHook: admitSender(senders) },
  );
  const info = { title: "Signalbox", version: settings.version, description: ABOUT };
  mountDocs(router, toOpenApi(routes, info, { needsToken: door.needsToken }));
  mountDashboard(router, DASHBOARD);
  router.get("/metrics", async (ctx) => {
    const { type, text } = await settings.readMetrics();
    const isOpen = await door.mayRead(ctx).catch(() => false); // where that is not known, the figures are
    ctx.set("Content-Type", type);
    ctx.body = isOpen ? text : withoutMappingNames(text);
  });
  app.use(router.routes());
  const isKnown = (name: string) => BUILT_IN.includes(name) || mappingsNamed(mappings, name).length > 0;
  app.use(noRoute(router, (path) => isHook(path) && !isKnown(hookName(hooks.path, path))));
  return app;
}

const isUnder = (path: string, base: string): boolean => path === base || path.startsWith(`${base}/`);

const HOOK_ADVICE =
  "Send the hook token as `Authorization: Bearer …` or `x-service-token`; where the mapping has `auth`, its sender's proof.";

const ABOUT =
  "Job tracking: an orchestrator creates a job, the code that does the work reports its steps, everybody reads how far it is.";
