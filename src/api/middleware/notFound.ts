import type Router from "@koa/router";
import type { Context, Middleware } from "koa";
import { AppError } from "../../shared/errors.ts";
import { publicPath } from "./basePath.ts";

/**
 * Handles requests that no route matches. Answers OPTIONS at a known path with its methods.
 * @param sendPage responds with a page to a browser, and returns whether it has responded
 * @throws AppError method_not_allowed at a known path; not_found
 */
export function notFound(router: Router, sendPage: (ctx: Context) => boolean): Middleware {
  return (ctx) => {
    const methods = methodsAt(router, ctx.path);
    if (methods.size === 0) {
      if (sendPage(ctx)) return;
      const trimmed = withoutSlashes(ctx.path);
      const isTrailing = trimmed !== ctx.path && methodsAt(router, trimmed).size > 0;
      const hint = isTrailing
        ? `Leave out the slash at the end: ${publicPath(ctx, trimmed)}.`
        : `See ${publicPath(ctx, "/docs")} for the list of endpoints.`;
      throw new AppError("not_found", { detail: `There is no endpoint or page at ${publicPath(ctx)}. ${hint}` });
    }
    refuseMethod(ctx, methods);
  };
}

/**
 * Refuses a method that a path does not support, and answers OPTIONS.
 * @param methods those that it supports besides OPTIONS
 * @throws AppError method_not_allowed
 */
export function refuseMethod(ctx: Context, methods: Iterable<string>): void {
  const allow = [...methods, "OPTIONS"].join(", ");
  if (ctx.method !== "OPTIONS") {
    throw new AppError("method_not_allowed", {
      detail: `${publicPath(ctx)} does not support ${ctx.method}. It supports ${allow}.${creationHint(ctx)}`,
      headers: { Allow: allow },
    });
  }
  ctx.status = 204;
  ctx.set("Allow", allow);
}

/** Removes the slashes at the end of a path. */
function withoutSlashes(path: string): string {
  let end = path.length;
  while (path[end - 1] === "/") end--;
  return path.slice(0, end);
}

/** Names the call that creates a job, for clients that expect POST to the list. */
const creationHint = (ctx: Context): string =>
  ctx.method === "POST" && ctx.path === "/api/jobs"
    ? ` Create a job with PUT ${publicPath(ctx, "/api/jobs")}/{jobId}, with an id of your own.`
    : "";

/** Returns the methods of the routes at a path; empty when there is no route. */
function methodsAt(router: Router, path: string): Set<string> {
  return new Set(router.match(path, "GET").path.flatMap(({ methods }) => methods));
}
