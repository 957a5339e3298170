import Koa from "koa";
import helmet from "koa-helmet";
import { compileMappings, hookName, mappingsAt } from "../hooks/mapping.ts";
import { isLoopback } from "../shared/address.ts";
import { DASHBOARD, mountDashboard } from "./dashboard.ts";
import type { ApiDeps } from "./deps.ts";
import { mountDocs } from "./docs.ts";
import { HeldBytes } from "./heldBytes.ts";
import { Doorkeeper, SESSION_PATH } from "./middleware/access.ts";
import { type CountFailure, Gate, hookTokens } from "./middleware/auth.ts";
import { failures } from "./middleware/failures.ts";
import { hostGuard } from "./middleware/host.ts";
import { admitSender, hookGuard, ignoreTrailingSlash } from "./middleware/mappedSender.ts";
import { checkTarget, pathOf, requests } from "./middleware/requests.ts";
import { mount, noRoute } from "./mount.ts";
import { toOpenApi } from "./openapi.ts";
import { BOARD_PATH, queueBoard } from "./queueBoard.ts";
import type { AnyRoute } from "./route.ts";
import { channelRoutes } from "./routes/channels.ts";
import { deliveryRoutes } from "./routes/deliveries.ts";
import { eventRoutes } from "./routes/events.ts";
import { hookRoutes } from "./routes/hooks.ts";
import { jobRoutes } from "./routes/jobs.ts";
import { mappedHookRoute } from "./routes/mappedHooks.ts";
import { probeRoutes } from "./routes/probes.ts";
import { runRoutes } from "./routes/runs.ts";
import { sessionRoutes } from "./routes/session.ts";
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
  readonly bodies?: HeldBytes;
  readonly strict?: boolean;
  readonly countFailure: CountFailure;
  /** The Prometheus text of all processes that share the port. */
  readonly readMetrics: () => Promise<{ type: string; text: string }>;
}

const PAGE_HEADERS = {
  contentSecurityPolicy: { useDefaults: false, directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] } },
  strictTransportSecurity: false, // whoever ends TLS in front knows whether it is for good
};

/** Without those that only say something of a document that a browser shows: setting them took 5 % of a read. */
const DATA_HEADERS = {
  ...PAGE_HEADERS,
  ...{ crossOriginOpenerPolicy: false, originAgentCluster: false, xDnsPrefetchControl: false },
  ...{ xDownloadOptions: false, xPermittedCrossDomainPolicies: false, xXssProtection: false },
};

/** The whole API as a Koa application that listens nowhere yet. */
export function buildApp(deps: ApiDeps, settings: AppSettings): Koa {
  const app = new Koa({ proxy: settings.trustProxy > 0, maxIpsCount: settings.trustProxy });
  app.on("error", (error: Error) => deps.log.debug({ err: { message: error.message } }, "a connection broke"));
  app.use(requests(deps.log, deps.metrics));
  const { hooks, log, clock } = deps;
  const isHook = (path: string) => hooks.enabled && isUnder(path, hooks.path);
  const [ofPages, ofData] = [helmet(PAGE_HEADERS), helmet(DATA_HEADERS)];
  app.use((ctx, next) => {
    const path = pathOf(ctx);
    return (path && (isUnder(path, "/api") || isHook(path)) ? ofData : ofPages)(ctx, next);
  });
  app.use(failures(log, deps.metrics));
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
  const bodies = settings.bodies ?? new HeldBytes();
  const senders = { mappings, basePath: hooks.path, gate, clock, log, bodies };
  const door = new Doorkeeper({ ...settings, hookToken: hooks.enabled ? hooks.token : undefined }, clock);
  app.use((ctx, next) => (isUnder(ctx.path, "/api") ? door.guard(ctx, next) : next()));
  const board = queueBoard(deps.queues);
  app.use((ctx, next) => (isUnder(ctx.path, BOARD_PATH) ? door.pageGuard(ctx, () => board(ctx, next)) : next()));
  app.use((ctx, next) => (ctx.path === SESSION_PATH ? door.visit(ctx, next) : next()));
  if (hooks.enabled) {
    const guard = hookGuard(senders);
    app.use((ctx, next) => (isHook(ctx.path) ? ignoreTrailingSlash(ctx, next) : next()));
    app.use((ctx, next) => (isHook(ctx.path) ? guard(ctx, next) : next()));
  }
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
    ctx.set("Content-Type", type);
    ctx.body = text;
  });
  app.use(router.routes());
  const isKnown = (name: string) => ["wake", "agent"].includes(name) || mappingsAt(mappings, name).length > 0;
  app.use(noRoute(router, (path) => isHook(path) && !isKnown(hookName(hooks.path, path))));
  return app;
}

const isUnder = (path: string, base: string): boolean => path === base || path.startsWith(`${base}/`);

const HOOK_ADVICE = "Send the hook token as `Authorization: Bearer …` or `x-service-token`.";

const ABOUT =
  "Job tracking: an orchestrator creates a job, the code that does the work reports its steps, everybody reads how far it is.";
