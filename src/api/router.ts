import type { EventEmitter } from "node:events";
import type { ServerResponse } from "node:http";
import Router from "@koa/router";
import type { Context, Middleware } from "koa";
import type { TObject, TSchema } from "typebox";
import { AppError } from "../shared/errors.ts";
import type { ApiDeps } from "./deps.ts";
import { publicPath } from "./middleware/basePath.ts";
import { jsonBody } from "./middleware/body.ts";
import type { MemoryBudget } from "./middleware/memoryBudget.ts";
import { textBody } from "./middleware/textBody.ts";
import type { AnyRoute, Input, RouteSchemas } from "./route.ts";
import { strictHandler } from "./strictHandler.ts";
import { bodyCheck, urlCheck } from "./validate.ts";

export interface RouterOptions {
  readonly bodyLimit: number;
  /** Limits the memory of bodies that are being read. */
  readonly bodies: MemoryBudget;
  /** For tests: answers `internal` when a response does not match its schema or an error code is not listed. */
  readonly strict: boolean;
}

/**
 * Creates the router of the routes. The first route that matches a request handles it; middleware/notFound.ts handles all others.
 * @param bodyReaders middleware that reads the body in place of `jsonBody`, by operationId
 */
export function createRouter(
  routes: readonly AnyRoute[],
  deps: ApiDeps,
  options: RouterOptions,
  bodyReaders: Readonly<Record<string, Middleware>> = {},
): Router {
  const router = new Router({ strict: true, sensitive: true });
  for (const r of routes) {
    const layers: Middleware[] = [handle(r, deps, options.strict)];
    if (r.schemas.body)
      layers.unshift(bodyReaders[r.operationId] ?? jsonBody(r.bodyLimit ?? options.bodyLimit, options.bodies));
    if (r.textBody) layers.unshift(textBody(r.bodyLimit ?? options.bodyLimit, options.bodies));
    router[r.method](r.path, ...layers);
  }
  return router;
}

function handle(r: AnyRoute, deps: ApiDeps, strict: boolean): Middleware {
  const readUrl = urlReader(r.schemas);
  const checkBody = r.schemas.body && bodyCheck(r.schemas.body);
  const call = strict ? strictHandler(r) : (input: Input<RouteSchemas>) => r.handler(input, deps);
  return async (ctx) => {
    ctx.state.operation = r.path;
    const { params, query, headers } = readUrl(ctx);
    const body = r.schemas.body && ctx.request.body;
    checkBody?.(body);
    const answer = await call(
      {
        params,
        query,
        headers,
        body,
        text: r.textBody ? ctx.request.body : "",
        authContext: ctx.state.authContext,
      } as Input<RouteSchemas>,
      deps,
    );
    ctx.status = answer.status;
    ctx.state.isStream = r.stream ?? false;
    if (r.stream) limitStreamEnd(answer.body as EventEmitter, ctx.res);
    if (answer.headers) ctx.set(publicHeaders(ctx, answer.headers));
    ctx.body = answer.body;
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

const STREAM_END_TIMEOUT_MS = 1_000;

function urlReader(schemas: RouteSchemas): (ctx: Context) => { params: object; query: object; headers: object } {
  const checkParams = urlCheck(schemas.params ?? EMPTY);
  const checkQuery = urlCheck(schemas.query ?? EMPTY);
  const checkHeaders = schemas.headers && urlCheck(schemas.headers);
  const lists = Object.entries(schemas.query?.properties ?? {}).flatMap(([name, schema]) =>
    isList(schema) ? [name] : [],
  );
  return (ctx) => {
    checkEncoding(ctx.path);
    const params = { ...ctx.params };
    const query: Record<string, unknown> = { ...ctx.query };
    for (const name of lists) if (typeof query[name] === "string") query[name] = query[name].split(",");
    checkParams(params);
    checkQuery(query);
    const headers = checkHeaders ? { ...ctx.headers } : {};
    checkHeaders?.(headers);
    return { params, query, headers };
  };
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

const EMPTY = { type: "object", properties: {}, additionalProperties: false } as unknown as TObject;

/** Returns whether a parameter is a list separated by commas; other lists repeat the parameter. */
export const isList = (schema: TSchema): boolean => (schema as { explode?: boolean }).explode === false;
