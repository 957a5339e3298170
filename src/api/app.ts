import Koa, { type Middleware } from "koa";
import { BUILT_IN_HOOKS } from "../config/checks/mappings.ts";
import { allTokens, type TokenList } from "../config/formats/tokenList.ts";
import type { Config } from "../config/schema/config.ts";
import { compileMappings, hookName, mappingsNamed } from "../hooks/mappings/mapping.ts";
import { isLoopback } from "../shared/address.ts";
import { ApiAuth, LOGIN_PATH } from "./auth/apiAuth.ts";
import { answerGraph } from "./auth/handshake.ts";
import { authenticateHook, authenticateSender, ignoreTrailingSlash } from "./auth/hookAuth.ts";
import { HookNotFound } from "./auth/hookNotFound.ts";
import { type CountFailure, hookTokens, refusalRecorder, TokenVerifier } from "./auth/tokenVerifier.ts";
import type { ApiDeps } from "./deps.ts";
import { mountAnswerPage } from "./gates/answerPage.ts";
import { mountGuide } from "./guide/guide.ts";
import { MCP_PATH } from "./mcp/operation.ts";
import { withoutConfiguredNames } from "./metrics/metrics.ts";
import { allowedHosts } from "./middleware/allowedHosts.ts";
import { removeBasePath, storeBasePath, withoutBasePath } from "./middleware/basePath.ts";
import { jsonBody } from "./middleware/body.ts";
import { compress } from "./middleware/compress.ts";
import { MemoryBudget } from "./middleware/memoryBudget.ts";
import { notFound } from "./middleware/notFound.ts";
import { problemDetails } from "./middleware/problemDetails.ts";
import { parseQueriesInLinearTime } from "./middleware/query.ts";
import { ANSWER_PATH, checkTarget, requestLog } from "./middleware/requestLog.ts";
import { securityHeaders } from "./middleware/securityHeaders.ts";
import { toOpenApi } from "./openapi/openapi.ts";
import { DASHBOARD, mountDashboard } from "./pages/dashboard.ts";
import { mountDocs } from "./reference/docs.ts";
import type { OpenApi } from "./reference/document.ts";
import { createRouter } from "./router.ts";
import { allRoutes } from "./routes/all.ts";

export interface AppSettings {
  readonly version: string;
  /** The host that the server listens on. */
  readonly host: string;
  /** The path that everything is served below; at the root of the host when undefined. */
  readonly basePath?: string | undefined;
  /** Host names that requests may carry when no API token is configured, besides `localhost`. */
  readonly allowedHosts: readonly string[];
  readonly apiToken?: TokenList;
  readonly readOnlyToken?: TokenList;
  readonly tokens?: Config["server"]["tokens"];
  readonly secret?: string | undefined;
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
  parseQueriesInLinearTime(app);
  app.on("error", (error: Error) => deps.log.debug({ err: { message: error.message } }, "a connection failed"));
  const { basePath = "" } = settings;
  if (basePath) app.use(storeBasePath(basePath));
  app.use(requestLog(deps.log, deps.metrics));
  const { hooks, log, clock } = deps;
  const isHook = (path: string) => hooks.enabled && isUnder(path, hooks.path);
  const isData = (path: string) => isUnder(path, "/api") || isHook(path);
  app.use(securityHeaders((path) => isData(withoutBasePath(path, basePath) ?? path)));
  app.use(compress);
  app.use(problemDetails(log, deps.metrics, settings.drainBodyMs));
  app.use(checkTarget);
  if (basePath) app.use(removeBasePath(basePath));
  const { apiToken, host } = settings;
  if (apiToken === undefined && (isLoopback(host) || settings.allowedHosts.length > 0)) {
    const checkHost = allowedHosts(settings.allowedHosts);
    // hooks always require authentication, and so do links to answer a gate
    const needsNoCheck = (path: string) => isHook(path) || isUnder(path, ANSWER_PATH);
    app.use((ctx, next) => (needsNoCheck(ctx.path) ? next() : checkHost(ctx, next)));
  }
  const mappings = hooks.enabled ? compileMappings(hooks) : [];
  if (hooks.enabled) deps.metrics.addHooks([...BUILT_IN_HOOKS, ...mappings.map(({ key }) => key)]);
  const recordRefusal = refusalRecorder(deps.stores.audit, log);
  const verifier = new TokenVerifier(hooks.enabled ? allTokens(hooks.token) : [], {
    extractTokens: hookTokens,
    countFailure: settings.countFailure,
    advice: HOOK_ADVICE,
    recordRefusal,
  });
  const bodies = settings.bodies ?? new MemoryBudget();
  const unknownHook = new HookNotFound(hooks.path, mappings);
  const auth = new ApiAuth(
    { ...settings, hookToken: hooks.enabled ? hooks.token : undefined },
    { clock, endedLogins: deps.stores.endedLogins, jobTokens: deps.jobTokens, audit: deps.stores.audit, log },
  );
  const hookAuth = {
    mappings,
    basePath: hooks.path,
    verifier,
    tokenTable: auth.table,
    clock,
    log,
    bodies,
    notFound: unknownHook,
    sns: deps.sns,
  };
  const checkHookToken = authenticateHook(hookAuth);
  const answerHandshake = answerGraph(mappings, hooks.path);
  const receiveHook: Middleware = (ctx, next) =>
    ignoreTrailingSlash(ctx, () => {
      const authenticated = () => answerHandshake(ctx, () => checkHookToken(ctx, next));
      if (hooks.keepRequests === undefined) return authenticated();
      return deps.refusedRequests.collect(ctx, hookName(hooks.path, ctx.path), authenticated);
    });
  app.use((ctx, next) => {
    const { path } = ctx;
    // responses that require authentication must not be cached, errors included
    if (["/api", LOGIN_PATH, MCP_PATH].some((base) => isUnder(path, base))) ctx.set("Cache-Control", "no-store");
    if (isUnder(path, "/api")) return auth.authenticate(ctx, next);
    if (isHook(path)) return receiveHook(ctx, next);
    if (path === MCP_PATH) return auth.authenticateAgent(ctx, next);
    return path === LOGIN_PATH ? auth.provideLogin(ctx, next) : next();
  });
  const routes = allRoutes(hooks, mappings);
  const router = createRouter(
    routes,
    deps,
    { bodyLimit: settings.bodyLimit, bodies, strict: settings.strict ?? false, authorize: (r) => auth.authorize(r) },
    { callHook: authenticateSender(hookAuth) },
  );
  const info = { title: "Signalbox", version: settings.version, description: about(basePath) };
  mountDocs(router, () => toOpenApi(routes, info, basePath) as OpenApi);
  const sendDashboard = mountDashboard(router, DASHBOARD, basePath);
  mountAnswerPage(router, { stores: deps.stores, bodies, countFailure: settings.countFailure, recordRefusal });
  mountGuide(router, DASHBOARD, basePath);
  const strict = settings.strict ?? false;
  router.post(
    MCP_PATH,
    jsonBody(settings.bodyLimit, bodies),
    lazily(async () => {
      const { mcpEndpoint } = await import("./mcp/endpoint.ts");
      return mcpEndpoint(routes, deps, { strict, bodies });
    }),
  );
  router.get("/metrics", async (ctx) => {
    const { type, text } = await settings.readMetrics();
    const canRead = await auth.canRead(ctx).catch(() => false); // MongoDB may be unavailable, and metrics must still be served
    ctx.set("Content-Type", type);
    ctx.body = canRead ? text : withoutConfiguredNames(text);
  });
  app.use(router.routes());
  const isKnown = (name: string) => BUILT_IN_HOOKS.includes(name) || mappingsNamed(mappings, name).length > 0;
  app.use(
    notFound(
      router,
      (ctx) => !isData(ctx.path) && sendDashboard(ctx),
      (ctx) =>
        isHook(ctx.path) && !isKnown(hookName(hooks.path, ctx.path)) ? unknownHook.unknownName(ctx) : undefined,
    ),
  );
  return app;
}

/** Returns middleware that is loaded with the first request, so that processes without such requests save its memory. */
function lazily(load: () => Promise<Middleware>): Middleware {
  let loading: Promise<Middleware> | undefined;
  return async (ctx, next) => {
    loading ??= load();
    return (await loading)(ctx, next);
  };
}

const isUnder = (path: string, base: string): boolean => path === base || path.startsWith(`${base}/`);

const HOOK_ADVICE =
  "Send the hook token in the header `Authorization: Bearer <token>` or `x-service-token: <token>`. If the mapping has `auth`, sign the request or send the token as that sender does.";

const about = (basePath: string) =>
  `Signalbox tracks jobs and runs agents. For job tracking, create a job with \`PUT /api/jobs/{jobId}\`, report its steps, and read its progress. For agents, call a hook with \`POST /hooks/agent\` and read the run with \`GET /api/runs/{runId}\`.\n\nErrors are problem details (RFC 9457) with a stable \`code\`: see [all codes](${basePath}/docs/errors). The [guide](${basePath}/guide/reference/api) explains the API with examples.`;
