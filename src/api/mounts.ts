import type Router from "@koa/router";
import type { Context, Middleware } from "koa";
import { allTokens } from "../config/access/tokenList.ts";
import { BUILT_IN_HOOKS } from "../config/mappings/mapping.ts";
import { hookName, type Mapping, mappingsNamed } from "../hooks/mappings/mapping.ts";
import { type ApiAuth, LOGIN_PATH } from "./auth/apiAuth.ts";
import { mayDo } from "./auth/caller.ts";
import { answerGraph, expectsHandshake } from "./auth/handshake.ts";
import { authenticateHook, authenticateSender } from "./auth/hookAuth.ts";
import { unknownHook } from "./auth/hookNotFound.ts";
import { type Refuse, rejecting } from "./auth/refusals.ts";
import type { ApiDeps } from "./deps.ts";
import { mountAnswerPage } from "./gates/answerPage.ts";
import { mountPresses } from "./gates/pressPage.ts";
import { mountGuide } from "./guide/guide.ts";
import { MCP_PATH } from "./mcp/operation.ts";
import { withoutConfiguredNames } from "./metrics/metrics.ts";
import { publicPath } from "./middleware/basePath.ts";
import { jsonBody } from "./middleware/body.ts";
import { refuseMethod } from "./middleware/notFound.ts";
import { toOpenApi } from "./openapi/openapi.ts";
import { DASHBOARD, mountDashboard } from "./pages/dashboard.ts";
import { mountDocs } from "./reference/docs.ts";
import type { OpenApi } from "./reference/document.ts";
import { moveOpenClawToken } from "./routes/hooks/openclaw.ts";
import type { AnyRoute } from "./routing/route.ts";
import { addRoutes, type RouterOptions } from "./routing/router.ts";
import { mountShare, type ShareSettings } from "./share/share.ts";

const HOOK_ADVICE =
  "Send the hook token in the header `Authorization: Bearer <token>` or `x-service-token: <token>`. If the mapping has `auth`, sign the request or send the token as that sender does.";

/** Responses that require authentication must not be cached, errors included. */
const NO_STORE = { "Cache-Control": "no-store" };

/** Returns whether a path is another one or lies below it. */
export const isUnder = (path: string, base: string): boolean => path === base || path.startsWith(`${base}/`);

/** A part of the application that authenticates its requests in its own way. Its routes are in the router that all share. */
export interface Mount {
  /** Returns whether a path belongs to this part. */
  readonly owns: (path: string) => boolean;
  /** Authenticates a request to this part before its route is looked for. */
  readonly enter: Middleware;
}

/** The settings and dependencies that every part is mounted with. */
export interface MountDeps {
  readonly deps: ApiDeps;
  readonly router: Router;
  readonly options: RouterOptions;
  readonly routes: readonly AnyRoute[];
  readonly auth: ApiAuth;
  readonly refuse: Refuse;
}

interface ApiOptions {
  readonly isHook: (path: string) => boolean;
  /** Returns the metrics of all processes that share the port, in Prometheus' text format. */
  readonly readMetrics: () => Promise<{ type: string; text: string }>;
}

/** Adds the API, the browser's log-in, the probes and the metrics. */
export function mountApi(
  { deps, router, options, routes, auth }: MountDeps,
  { isHook, readMetrics }: ApiOptions,
): Mount {
  const ownRoutes = routes.filter(({ path }) => !isHook(path));
  addRoutes(router, ownRoutes, deps, options);
  router.get("/metrics", async (ctx) => {
    const { type, text } = await readMetrics();
    const caller = await auth.identify(ctx).catch(() => null); // MongoDB may be unavailable, and metrics must still be served
    ctx.set("Content-Type", type);
    ctx.body = caller && mayDo(caller, "runs:read") ? text : withoutConfiguredNames(text);
  });
  return {
    owns: (path) => isUnder(path, "/api") || path === LOGIN_PATH,
    enter: (ctx, next) => {
      ctx.set(NO_STORE);
      return ctx.path === LOGIN_PATH ? auth.provideLogin(ctx, next) : auth.authenticate(ctx, next);
    },
  };
}

/** Adds the hooks, if they are enabled: the built-in ones, and one for each name of a mapping. */
export function mountHooks(mount: MountDeps, mappings: readonly Mapping[]): Mount {
  const { deps, router, options, routes, auth, refuse } = mount;
  const { hooks, clock, log, sns, refusedRequests } = deps;
  const owns = (path: string) => hooks.enabled && isUnder(path, hooks.path);
  if (hooks.enabled) deps.metrics.addHooks([...BUILT_IN_HOOKS, ...mappings.map(({ key }) => key)]);
  const hookAuth = {
    mappings,
    basePath: hooks.path,
    tokens: hooks.enabled ? allTokens(hooks.token) : [],
    reject: rejecting(refuse, HOOK_ADVICE),
    tokenTable: auth.identities.table,
    clock,
    log,
    bodies: options.bodies,
    sns,
  };
  const ownRoutes = routes.filter(({ path }) => owns(path));
  addRoutes(router, ownRoutes, deps, options, { callHook: authenticateSender(hookAuth) });
  const checkToken = authenticateHook(hookAuth);
  const answerHandshake = answerGraph(mappings, hooks.path);
  const isKnown = (name: string) => BUILT_IN_HOOKS.includes(name) || mappingsNamed(mappings, name).length > 0;
  return {
    owns,
    enter: async (ctx, next) => {
      if (isVisit(ctx, hooks.path)) return ctx.redirect(publicPath(ctx, "/requests"));
      if (hooks.compat === "openclaw") moveOpenClawToken(ctx.req.headers);
      if (ctx.path.endsWith("/")) ctx.path = ctx.path.slice(0, -1);
      const name = hookName(hooks.path, ctx.path);
      const route = async () => {
        if (!isKnown(name)) throw unknownHook(ctx, hooks.path, mappings);
        // The route of Meta's handshake matches every name.
        if (ctx.method === "POST" || expectsHandshake(mappings, name, "GET")) return next();
        return refuseMethod(ctx, ["POST"]);
      };
      const authenticated = () => answerHandshake(ctx, () => checkToken(ctx, route));
      if (hooks.keepRequests === undefined) await authenticated();
      else await refusedRequests.collect(ctx, name, authenticated);
      if (hooks.compat === "openclaw" && ctx.status === 202) ctx.status = 200;
    },
  };
}

/** Whether a person has typed the path of the hooks into a browser, and wants the page about them. */
const isVisit = (ctx: Context, path: string): boolean =>
  ctx.path === path && ctx.method === "GET" && ctx.accepts("json", "html") === "html";

/** Adds the endpoint of the Model Context Protocol, whose tools call the routes. */
export function mountMcp({ deps, router, options, routes, auth }: MountDeps): Mount {
  const { bodies, bodyLimit, strict } = options;
  let loading: Promise<Middleware> | undefined;
  const load = async () => (await import("./mcp/endpoint.ts")).mcpEndpoint(routes, deps, { strict, bodies });
  router.post(MCP_PATH, jsonBody(bodyLimit, bodies), async (ctx, next) => {
    loading ??= load(); // with the first request, so that processes without such requests save its memory
    return (await loading)(ctx, next);
  });
  return {
    owns: (path) => path === MCP_PATH,
    enter: (ctx, next) => {
      ctx.set(NO_STORE);
      return auth.authenticateAgent(ctx, next);
    },
  };
}

interface PageOptions extends ShareSettings {
  readonly basePath: string;
  readonly version: string;
  readonly api: Mount;
}

/**
 * Adds the pages: the API's reference, the dashboard, the pages behind the links of gates and jobs, and the guide. They need no caller: the
 * dashboard reads through the API, and the link is its own authority. Each of them sets its own cache headers.
 * @returns a function that responds with the dashboard to a browser at an unknown address, and returns whether it has responded
 */
export function mountPages(
  { deps, router, options, routes, auth, refuse }: MountDeps,
  { basePath, version, api, ...share }: PageOptions,
): (ctx: Context) => boolean {
  const info = { title: "Signalbox", version, description: about(basePath) };
  mountDocs(router, () => toOpenApi(routes, info, basePath) as OpenApi, { publicUrl: deps.publicUrl, basePath });
  const answer = router.routes() as Middleware;
  const sendDashboard = mountDashboard(router, DASHBOARD, {
    basePath,
    api: (ctx, next) => api.enter(ctx, () => answer(ctx, next)),
  });
  mountAnswerPage(router, { stores: deps.stores, bodies: options.bodies, refuse });
  mountPresses(router, { stores: deps.stores, access: deps.access, refuse });
  mountShare(router, { ...share, deps, auth, refuse });
  mountGuide(router, DASHBOARD, basePath);
  return sendDashboard;
}

const about = (basePath: string) =>
  `Signalbox tracks jobs and runs agents. For job tracking, create a job with \`PUT /api/jobs/{jobId}\`, report its steps, and read its progress. For agents, call a hook with \`POST /hooks/agent\` and read the run with \`GET /api/runs/{runId}\`.\n\nErrors are problem details (RFC 9457) with a stable \`code\`: see [all codes](${basePath}/docs/errors). The [guide](${basePath}/guide/reference/api) explains the API with examples.`;
