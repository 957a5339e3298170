import Koa, { type Middleware } from "koa";
import { needsLogin, type TokenList } from "../config/access/tokenList.ts";
import type { Config } from "../config/config.ts";
import { compileMappings } from "../hooks/mappings/mapping.ts";
import { isLoopback } from "../shared/address.ts";
import { ApiAuth } from "./auth/apiAuth.ts";
import { type CountFailure, refusing } from "./auth/refusals.ts";
import { mountChats } from "./chat/chats.ts";
import type { ApiDeps } from "./deps.ts";
import { allowedHosts } from "./middleware/allowedHosts.ts";
import { removeBasePath, storeBasePath, withoutBasePath } from "./middleware/basePath.ts";
import { compress } from "./middleware/compress.ts";
import { MemoryBudget } from "./middleware/memoryBudget.ts";
import { notFound } from "./middleware/notFound.ts";
import { problemDetails } from "./middleware/problemDetails.ts";
import { parseQueriesInLinearTime } from "./middleware/query.ts";
import { ANSWER_PATH, checkTarget, requestLog, SHARE_PATH } from "./middleware/requestLog.ts";
import { securityHeaders } from "./middleware/securityHeaders.ts";
import { isUnder, type Mount, type MountDeps, mountApi, mountHooks, mountMcp, mountPages } from "./mounts.ts";
import { mountLoginPages } from "./people/loginPages.ts";
import { mountPings } from "./receivers/pings.ts";
import { allRoutes } from "./routes/all.ts";
import { emptyRouter } from "./routing/router.ts";

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
  readonly oidc?: Config["server"]["oidc"];
  readonly userHeader?: Config["server"]["userHeader"];
  /** The address under which people reach the service. */
  readonly publicUrl?: string | undefined;
  readonly secret?: string | undefined;
  readonly shareFrameAncestors?: readonly string[];
  readonly publicBadges?: readonly string[];
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

/** A layer of the application: its name, its middleware, and why it stands where it stands. Every request passes all layers in order. */
type Layer = readonly [name: string, middleware: Middleware, whyHere: string];

/** Returns the API as a Koa application, not yet listening. */
export function buildApp(deps: ApiDeps, settings: AppSettings): Koa {
  const app = new Koa({ proxy: settings.trustProxy > 0, maxIpsCount: settings.trustProxy });
  parseQueriesInLinearTime(app);
  app.on("error", (error: Error) => deps.log.debug({ err: { message: error.message } }, "a connection failed"));
  for (const [, middleware] of layersOf(deps, settings)) app.use(middleware);
  return app;
}

function layersOf(deps: ApiDeps, settings: AppSettings): readonly Layer[] {
  const { hooks, log, clock, metrics, stores } = deps;
  const { basePath = "", strict = false, bodies = new MemoryBudget(), bodyLimit, countFailure, version } = settings;
  const mappings = hooks.enabled ? compileMappings(hooks) : [];
  const refuse = refusing(countFailure, stores.audit, log);
  const auth = new ApiAuth(
    { ...settings, hookToken: hooks.enabled ? hooks.token : undefined },
    { clock, endedLogins: stores.endedLogins, jobTokens: deps.jobTokens, audit: stores.audit, refuse },
  );
  const common: MountDeps = {
    deps,
    router: emptyRouter(),
    options: { bodyLimit, bodies, strict },
    routes: allRoutes(hooks, mappings),
    auth,
    refuse,
  };
  const chatMount = mountChats(common); // before the hooks, whose names include these
  const hookMount = mountHooks(common, mappings);
  const apiMount = mountApi(common, { isHook: hookMount.owns, readMetrics: settings.readMetrics });
  const mounts: Mount[] = [chatMount, apiMount, hookMount, mountMcp(common), mountPings(common)];
  const { shareFrameAncestors: frameAncestors = [], publicBadges = [], oidc, publicUrl } = settings;
  const sendPage = mountPages(common, { basePath, version, api: apiMount, frameAncestors, publicBadges });
  if (oidc && publicUrl !== undefined) mountLoginPages(common.router, oidc, publicUrl, deps);
  const isHook = (path: string) => hookMount.owns(path) || chatMount.owns(path);
  const isData = (path: string) => isUnder(path, "/api") || isHook(path);
  return [
    ...(basePath
      ? [["base path", storeBasePath(basePath), "first, because the log and every error name public paths"] as const]
      : []),
    ["request log", requestLog(log, metrics), "outside all others, so that it sees the final status of every request"],
    [
      "security headers",
      securityHeaders((path) => isData(withoutBasePath(path, basePath) ?? path)),
      "before anything can fail, so that errors carry them too; a page may replace them later",
    ],
    ["compression", compress, "outside the errors, because it compresses their bodies too"],
    [
      "problem details",
      problemDetails(log, metrics, settings.drainBodyMs),
      "inside the log and the compression, which need the error as a response; outside all that throws",
    ],
    ["request target", checkTarget, "before the first layer that reads the path, which may not be one"],
    ...(basePath
      ? [["below the base path", removeBasePath(basePath), "before the layers that compare paths"] as const]
      : []),
    ...hostLayer(settings, isHook),
    [
      "authentication",
      (ctx, next) => {
        const mount = mounts.find(({ owns }) => owns(ctx.path));
        return mount ? mount.enter(ctx, next) : next();
      },
      "before the router, because a body is read only for callers who are known",
    ],
    ["routes", common.router.routes() as Middleware, "after the authentication whose result they receive"],
    [
      "not found",
      notFound(common.router, (ctx) => !isData(ctx.path) && sendPage(ctx)),
      "last: it handles what no route has matched",
    ],
  ];
}

/** Returns the layer against DNS rebinding, which only a service that lets everybody in needs. */
function hostLayer(settings: AppSettings, isHook: (path: string) => boolean): readonly Layer[] {
  const { host, allowedHosts: names } = settings;
  if (needsLogin(settings) || !(isLoopback(host) || names.length > 0)) return [];
  const checkHost = allowedHosts(names);
  // hooks always require authentication, and so do links to answer a gate and to see a job
  const needsNoCheck = (path: string) => isHook(path) || isUnder(path, ANSWER_PATH) || isUnder(path, SHARE_PATH);
  return [
    [
      "allowed hosts",
      (ctx, next) => (needsNoCheck(ctx.path) ? next() : checkHost(ctx, next)),
      "before the authentication, which lets everybody in when no token is configured",
    ],
  ];
}
