import Koa from "koa";
import { compileMappings, hookName, mappingsNamed } from "../hooks/mappings/mapping.ts";
import { isLoopback } from "../shared/address.ts";
import { BUILT_IN_HOOKS } from "../shared/config/checks/mappings.ts";
import { ApiAuth, LOGIN_PATH } from "./auth/apiAuth.ts";
import { authenticateHook, authenticateSender, ignoreTrailingSlash } from "./auth/hookAuth.ts";
import { HookNotFound } from "./auth/hookNotFound.ts";
import { type CountFailure, hookTokens, TokenVerifier } from "./auth/tokenVerifier.ts";
import { DASHBOARD, mountDashboard } from "./dashboard.ts";
import type { ApiDeps } from "./deps.ts";
import { mountDocs } from "./docs.ts";
import { GUIDE, mountGuide } from "./guide.ts";
import { withoutMappingNames } from "./metrics/metrics.ts";
import { allowedHosts } from "./middleware/allowedHosts.ts";
import { removeBasePath, storeBasePath, withoutBasePath } from "./middleware/basePath.ts";
import { MemoryBudget } from "./middleware/memoryBudget.ts";
import { notFound } from "./middleware/notFound.ts";
import { problemDetails } from "./middleware/problemDetails.ts";
import { checkTarget, requestLog } from "./middleware/requestLog.ts";
import { securityHeaders } from "./middleware/securityHeaders.ts";
import { toOpenApi } from "./openapi.ts";
import { BOARD_PATH, queueBoard } from "./queueBoard.ts";
import type { AnyRoute } from "./route.ts";
import { createRouter } from "./router.ts";
import { channelRoutes } from "./routes/channels.ts";
import { deliveryRoutes } from "./routes/deliveries.ts";
import { eventRoutes } from "./routes/events.ts";
import { hookRoutes } from "./routes/hooks.ts";
import { jobRoutes } from "./routes/jobs.ts";
import { loginRoutes } from "./routes/login.ts";
import { mappedHookRoute } from "./routes/mappedHooks.ts";
import { pingRoutes } from "./routes/ping.ts";
import { probeRoutes } from "./routes/probes.ts";
import { runRoutes } from "./routes/runs.ts";
import { sessionRoutes } from "./routes/sessions.ts";
import { getStats } from "./routes/stats.ts";
import { stepRoutes } from "./routes/steps.ts";

export interface AppSettings {
  readonly version: string;
  /** The host that the server listens on. */
  readonly host: string;
  /** The path that everything is served below; at the root of the host when undefined. */
  readonly basePath?: string | undefined;
  /** Host names that requests may carry when no API token is configured, besides `localhost`. */
  readonly allowedHosts: readonly string[];
  readonly apiToken?: string | undefined;
  readonly readOnlyToken?: string | undefined;
  readonly trustProxy: number;
  readonly bodyLimit: number;
  readonly bodies?: MemoryBudget;
  readonly strict?: boolean;
  readonly countFailure: CountFailure;
  /** How long the rest of the body of a rejected request is drained. */
  readonly drainBodyMs: number;
  /** Returns the metrics of all processes that share the port, in Prometheus' text format. */
  readonly readMetrics: () => Promise<{ type: string; text: string }>;
}

/** Returns the API as a Koa application, not yet listening. */
export function buildApp(deps: ApiDeps, settings: AppSettings): Koa {
  const app = new Koa({ proxy: settings.trustProxy > 0, maxIpsCount: settings.trustProxy });
  app.on("error", (error: Error) => deps.log.debug({ err: { message: error.message } }, "a connection failed"));
  const { basePath = "" } = settings;
  if (basePath) app.use(storeBasePath(basePath));
  app.use(requestLog(deps.log, deps.metrics));
  const { hooks, log, clock } = deps;
  const isHook = (path: string) => hooks.enabled && isUnder(path, hooks.path);
  const isData = (path: string) => isUnder(path, "/api") || isHook(path);
  app.use(securityHeaders((path) => isData(withoutBasePath(path, basePath) ?? path)));
  app.use(problemDetails(log, deps.metrics, settings.drainBodyMs));
  app.use(checkTarget);
  if (basePath) app.use(removeBasePath(basePath));
  const { apiToken, host } = settings;
  if (apiToken === undefined && (isLoopback(host) || settings.allowedHosts.length > 0)) {
    const checkHost = allowedHosts(settings.allowedHosts);
    app.use((ctx, next) => (isHook(ctx.path) ? next() : checkHost(ctx, next))); // hooks always require authentication
  }
  const mappings = hooks.enabled ? compileMappings(hooks) : [];
  const verifier = new TokenVerifier(hooks.enabled && hooks.token ? [hooks.token] : [], {
    ...{ extractTokens: hookTokens, countFailure: settings.countFailure, advice: HOOK_ADVICE },
  });
  const bodies = settings.bodies ?? new MemoryBudget();
  const unknownHook = new HookNotFound(hooks.path, mappings);
  const hookAuth = { mappings, basePath: hooks.path, verifier, clock, log, bodies, notFound: unknownHook };
  const auth = new ApiAuth(
    { ...settings, hookToken: hooks.enabled ? hooks.token : undefined },
    clock,
    deps.stores.endedLogins,
  );
  const board = queueBoard(deps.queues, basePath);
  const checkHookToken = authenticateHook(hookAuth);
  app.use((ctx, next) => {
    const { path } = ctx;
    // responses that require authentication must not be cached, errors included
    if (["/api", BOARD_PATH, LOGIN_PATH].some((base) => isUnder(path, base))) ctx.set("Cache-Control", "no-store");
    if (isUnder(path, "/api")) return auth.authenticate(ctx, next);
    if (isHook(path)) return ignoreTrailingSlash(ctx, () => checkHookToken(ctx, next));
    if (isUnder(path, BOARD_PATH)) return auth.authenticatePage(ctx, () => board(ctx, next));
    return path === LOGIN_PATH ? auth.provideLogin(ctx, next) : next();
  });
  const routes: readonly AnyRoute[] = [
    ...jobRoutes,
    ...stepRoutes,
    ...pingRoutes,
    ...eventRoutes,
    getStats,
    ...hookRoutes(hooks),
    ...(mappings.length > 0 ? [mappedHookRoute(hooks, Math.max(...mappings.map((one) => one.maxBodyBytes)))] : []),
    ...runRoutes,
    ...sessionRoutes,
    ...deliveryRoutes,
    ...channelRoutes,
    ...loginRoutes,
    ...probeRoutes,
  ];
  const router = createRouter(
    routes,
    deps,
    { bodyLimit: settings.bodyLimit, bodies, strict: settings.strict ?? false },
    { callHook: authenticateSender(hookAuth) },
  );
  const info = { title: "Signalbox", version: settings.version, description: about(basePath) };
  mountDocs(router, toOpenApi(routes, info, { needsToken: auth.needsToken, basePath }));
  mountDashboard(router, DASHBOARD, basePath);
  mountGuide(router, GUIDE, basePath);
  router.get("/metrics", async (ctx) => {
    const { type, text } = await settings.readMetrics();
    const canRead = await auth.canRead(ctx).catch(() => false); // MongoDB may be away, and metrics must still be served
    ctx.set("Content-Type", type);
    ctx.body = canRead ? text : withoutMappingNames(text);
  });
  app.use(router.routes());
  const isKnown = (name: string) => BUILT_IN_HOOKS.includes(name) || mappingsNamed(mappings, name).length > 0;
  app.use(
    notFound(router, (ctx) =>
      isHook(ctx.path) && !isKnown(hookName(hooks.path, ctx.path)) ? unknownHook.unknownName(ctx) : undefined,
    ),
  );
  return app;
}

const isUnder = (path: string, base: string): boolean => path === base || path.startsWith(`${base}/`);

const HOOK_ADVICE =
  "Send the hook token in the header `Authorization: Bearer <token>` or `x-service-token: <token>`. If the mapping has `auth`, sign the request or send the token as that sender does.";

const about = (basePath: string) =>
  `Signalbox tracks jobs and runs agents. For job tracking, create a job with \`PUT /api/jobs/{jobId}\`, report its steps, and read its progress. For agents, call a hook with \`POST /hooks/agent\` and read the run with \`GET /api/runs/{runId}\`.\n\nErrors are problem details (RFC 9457) with a stable \`code\`: see [all codes](${basePath}/docs/errors). The [guide](${basePath}/guide/reference/api) explains the API with examples.`;
