import type Router from "@koa/router";
import type { Context, Middleware } from "koa";
import { AppError } from "../../shared/errors.ts";
import { publicPath } from "./basePath.ts";

/**
 * Handles requests that no route matches. Answers OPTIONS at a known path with its methods.
 * @param findHookFault returns the error for a path of the hooks without a hook, and undefined for any other path
 * @throws AppError method_not_allowed at a known path; hook_not_found, not_found
 */
export function notFound(router: Router, findHookFault: (ctx: Context) => AppError | undefined): Middleware {
  return (ctx) => {
    const hookFault = findHookFault(ctx);
    if (hookFault) throw hookFault;
    const methods = methodsAt(router, ctx.path);
    if (methods.size === 0) {
      throw new AppError("not_found", {
        detail: `There is no endpoint or page at ${publicPath(ctx)}. See ${publicPath(ctx, "/docs")} for the list of endpoints.`,
      });
    }
    const allow = [...methods, "OPTIONS"].join(", ");
    if (ctx.method === "OPTIONS") {
      ctx.status = 204;
      ctx.set("Allow", allow);
      return;
    }
    throw new AppError("method_not_allowed", {
      detail: `${publicPath(ctx)} does not support ${ctx.method}. It supports ${allow}.`,
      headers: { Allow: allow },
    });
  };
}

/** Returns the methods of the routes at a path; empty when there is no route. */
function methodsAt(router: Router, path: string): Set<string> {
  return new Set(router.match(path, "GET").path.flatMap(({ methods }) => methods));
}
