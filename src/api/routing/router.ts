import type { EventEmitter } from "node:events";
import type { ServerResponse } from "node:http";
import Router from "@koa/router";
import type { Context, Middleware } from "koa";
import type { TSchema } from "typebox";
import { AppError } from "../../shared/errors.ts";
import { authorize } from "../auth/authorize.ts";
import type { ApiDeps } from "../deps.ts";
import { publicPath } from "../middleware/basePath.ts";
import { jsonBody, mediaType } from "../middleware/body.ts";
import type { MemoryBudget } from "../middleware/memoryBudget.ts";
import { textBody } from "../middleware/textBody.ts";
import { requestedWait } from "../wait.ts";
import { prepareRoute } from "./preparedRoute.ts";
import type { AnyRoute, Input, RouteSchemas } from "./route.ts";

/** How long a client may take to read the end of a stream. */
const STREAM_END_TIMEOUT_MS = 1_000;

export interface RouterOptions {
  readonly bodyLimit: number;
  /** Limits the memory of bodies that are being read. */
  readonly bodies: MemoryBudget;
  /** For tests: answers `internal` when a response does not match its schema or an error code is not listed. */
  readonly strict: boolean;
}

/** Returns a router without routes, for `addRoutes`. */
export const emptyRouter = (): Router => new Router({ strict: true, sensitive: true });

/**
 * Adds routes. The first route that matches a request handles it; middleware/notFound.ts handles all others.
 * @param bodyReaders middleware that reads the body in place of `jsonBody`, by operationId
 */
export function addRoutes(
  router: Router,
  routes: readonly AnyRoute[],
  deps: ApiDeps,
  options: RouterOptions,
  bodyReaders: Readonly<Record<string, Middleware>> = {},
): void {
  for (const r of routes) {
    const bodyLimit = r.bodyLimit ?? options.bodyLimit;
    // A body is read only for a caller who may call the route.
    const layers: Middleware[] = [];
    if (isApi(r)) layers.push(authorizing(r));
    if (r.textBody) layers.push(textBody(bodyLimit, options.bodies, r.textTypes));
    if (r.schemas.body) layers.push(bodyReaders[r.operationId] ?? jsonBody(bodyLimit, options.bodies));
    router[r.method](r.path, ...layers, handle(r, deps, options.strict));
  }
}

/** Returns whether a route is under `/api`. Hooks and log-ins authorize their callers themselves. */
const isApi = ({ path }: AnyRoute): boolean => path.startsWith("/api/");

/** Returns middleware that refuses callers who may not call a route. */
const authorizing =
  (r: AnyRoute): Middleware =>
  (ctx, next) => {
    ctx.state.authContext = authorize(ctx.state.authContext, r, ctx.params.jobId);
    return next();
  };

function handle(r: AnyRoute, deps: ApiDeps, strict: boolean): Middleware {
  const { check, call } = prepareRoute(r, deps, strict);
  const lists = Object.entries<TSchema>(r.schemas.query?.properties ?? {}).flatMap(([name, schema]) =>
    isList(schema) ? [name] : [],
  );
  return async (ctx) => {
    ctx.state.operation = r.path;
    checkEncoding(ctx.path);
    const query: Record<string, unknown> = { ...ctx.query };
    for (const name of lists) if (typeof query[name] === "string") query[name] = query[name].split(",");
    const request = {
      params: { ...ctx.params },
      query,
      headers: r.schemas.headers ? { ...ctx.headers } : {},
      body: r.schemas.body && ctx.request.body,
    };
    check(request);
    const wait = r.canWait ? requestedWait(ctx, r.waitsFully?.(ctx.request.body)) : null;
    ctx.state.mayWait = wait !== null;
    const text = r.textBody ? { text: ctx.request.body, textType: mediaType(ctx) } : { text: "", textType: "" };
    const input = { ...request, ...text, authContext: ctx.state.authContext, wait } as Input<RouteSchemas>;
    // A request that waits reserves memory only for its response.
    const held = wait === null && r.isLarge?.(query) ? await deps.answers.reserveRead() : null;
    try {
      const answer = await call(input);
      ctx.status = answer.status;
      ctx.state.isStream = r.stream ?? false;
      if (r.stream) limitStreamEnd(answer.body as EventEmitter, ctx.res);
      if (answer.headers) ctx.set(publicHeaders(ctx, answer.headers));
      if (r.stream || typeof answer.body !== "object") {
        held?.release();
        ctx.body = answer.body;
        return;
      }
      const json = `${answer.json ?? JSON.stringify(answer.body)}\n`; // a terminal shows its prompt on a line of its own
      if (held) held.send(json, ctx.res);
      else await deps.answers.reserveAnswer(json, ctx.res);
      ctx.type = "json";
      ctx.body = json;
    } catch (error) {
      held?.release();
      throw error;
    }
  };
}

/** Adds the base path to the path in `Location`. */
function publicHeaders(ctx: Context, headers: Readonly<Record<string, string>>): Record<string, string> {
  const { Location } = headers;
  return { ...headers, ...(Location !== undefined && { Location: publicPath(ctx, Location) }) };
}

/** Destroys the connection when a client does not read the end of a stream: it would delay a shutdown. */
function limitStreamEnd(stream: EventEmitter, res: ServerResponse): void {
  stream.once("over", () => setTimeout(() => res.destroy(), STREAM_END_TIMEOUT_MS).unref());
}

/**
 * Checks the percent-encoding of a path: the router would take an invalid sequence literally, as part of another identifier.
 * @throws AppError invalid_query
 */
function checkEncoding(path: string): void {
  try {
    decodeURIComponent(path);
  } catch {
    throw new AppError("invalid_query", {
      detail: "The path is not percent-encoded UTF-8. Encode each identifier, for example with encodeURIComponent.",
    });
  }
}

/** Returns whether a parameter is a list separated by commas; other lists repeat the parameter. */
export const isList = (schema: TSchema): boolean => (schema as { explode?: boolean }).explode === false;
