import type { EventEmitter } from "node:events";
import type { ServerResponse } from "node:http";
import Router from "@koa/router";
import type { Context, Middleware } from "koa";
import type { TObject, TSchema } from "typebox";
import { AppError, toAppError } from "../shared/errors.ts";
import type { ApiDeps } from "./deps.ts";
import { jsonBody } from "./middleware/body.ts";
import type { MemoryBudget } from "./middleware/memoryBudget.ts";
import { type Answer, type Answers, type AnyRoute, errorsOf, type Input, type RouteSchemas } from "./route.ts";
import { bodyAjv, bodyCheck, urlCheck } from "./validate.ts";

export interface RouterOptions {
  readonly bodyLimit: number;
  /** Limits the memory of bodies that are being read. */
  readonly bodies: MemoryBudget;
  /** For tests: answers `internal` when a response does not match its schema or an error code is not listed. */
  readonly strict: boolean;
}

/**
 * Creates the router of the routes. The first route that matches a request handles it; `notFound` handles all others.
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
    router[r.method](r.path, ...layers);
  }
  return router;
}

function handle(r: AnyRoute, deps: ApiDeps, strict: boolean): Middleware {
  const readUrl = urlReader(r.schemas);
  const checkBody = r.schemas.body && bodyCheck(r.schemas.body);
  const fields = Object.keys(r.schemas.body?.properties ?? {});
  const call = strict ? strictHandler(r) : (input: Input<RouteSchemas>) => r.handler(input, deps);
  return async (ctx) => {
    ctx.state.operation = r.path;
    const { params, query, headers } = readUrl(ctx);
    const body = r.schemas.body && ctx.request.body;
    checkBody?.(body);
    if (body) makeWellFormed(body as Record<string, unknown>, fields);
    const answer = await call(
      { params, query, headers, body, authContext: ctx.state.authContext } as Input<RouteSchemas>,
      deps,
    );
    ctx.status = answer.status;
    ctx.state.isStream = r.stream ?? false;
    if (r.stream) limitStreamEnd(answer.body as EventEmitter, ctx.res);
    if (answer.headers) ctx.set(answer.headers);
    ctx.body = answer.body;
  };
}

/** Replaces lone surrogates by U+FFFD, as MongoDB does when it stores a string: the response then shows the stored value. */
function makeWellFormed(body: Record<string, unknown>, fields: readonly string[]): void {
  for (const field of fields) {
    const value = body[field];
    if (typeof value === "string" && !value.isWellFormed()) body[field] = value.toWellFormed();
  }
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
    throw new AppError("invalid_query", { detail: "The path is not percent-encoded UTF-8: encode each identifier." });
  }
}

const EMPTY = { type: "object", properties: {}, additionalProperties: false } as unknown as TObject;

/** Returns whether a parameter is a list separated by commas; other lists repeat the parameter. */
export const isList = (schema: TSchema): boolean => (schema as { explode?: boolean }).explode === false;

function strictHandler(r: AnyRoute): (input: Input<RouteSchemas>, deps: ApiDeps) => Promise<Answer<Answers>> {
  const listed = errorsOf(r);
  return async (input, deps) => {
    const answer = await r.handler(input, deps).catch((thrown: unknown) => {
      const { code } = toAppError(thrown);
      if (code !== "internal" && !listed.includes(code))
        throw new Error(`${r.operationId} does not list the error code ${code}`);
      throw thrown;
    });
    if (r.stream || answer.status === 204) return answer;
    const schema = r.answers[answer.status];
    // validates the serialized response, in which undefined properties are absent
    if (!schema || !bodyAjv.validate(schema, JSON.parse(JSON.stringify(answer.body)))) {
      throw new Error(
        `${r.operationId} answered ${answer.status} with a body that does not match its schema: ${bodyAjv.errorsText()}`,
      );
    }
    return answer;
  };
}

/**
 * Handles requests that no route matches. Answers OPTIONS at a known path with its methods.
 * @throws AppError method_not_allowed at a known path; hook_not_found, not_found
 */
export function notFound(router: Router, isUnknownHook: (path: string) => boolean): Middleware {
  return (ctx) => {
    if (isUnknownHook(ctx.path)) throw new AppError("hook_not_found", { detail: `There is no hook at ${ctx.path}.` });
    const methods = methodsAt(router, ctx.path);
    if (methods.size === 0) {
      throw new AppError("not_found", { detail: `There is nothing at ${ctx.path}; see /docs for what there is.` });
    }
    const allow = [...methods, "OPTIONS"].join(", ");
    if (ctx.method === "OPTIONS") {
      ctx.status = 204;
      ctx.set("Allow", allow);
      return;
    }
    throw new AppError("method_not_allowed", { detail: `${ctx.path} takes ${allow}.`, headers: { Allow: allow } });
  };
}

/** Returns the methods of the routes at a path; empty when there is no route. */
function methodsAt(router: Router, path: string): Set<string> {
  return new Set(router.match(path, "GET").path.flatMap(({ methods }) => methods));
}
