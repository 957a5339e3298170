import Router from "@koa/router";
import type { Middleware } from "koa";

/**
 * A router for each part of the address space, since a router tries its routes one after another: the part is the first
 * segment of a path, and under `/api` the second too. These are literal in every route.
 */
export class Routers {
  readonly #routers = new Map<string, Router>();
  readonly #answers = new Map<string, Middleware>();

  /** The one for a route at this path. */
  at(path: string): Router {
    const part = partOf(path);
    const known = this.#routers.get(part);
    if (known) return known;
    const router = new Router({ strict: true, sensitive: true });
    this.#routers.set(part, router);
    this.#answers.set(part, router.routes() as Middleware);
    return router;
  }

  /** Answers by the route that fits; goes on where none does. */
  readonly answer: Middleware = (ctx, next) => {
    const answer = this.#answers.get(partOf(ctx.path));
    return answer ? answer(ctx, next) : next();
  };

  /** The methods that the routes at this path take; none where there is no route. */
  methodsAt(path: string): Set<string> {
    const layers = this.#routers.get(partOf(path))?.match(path, "GET").path ?? [];
    return new Set(layers.flatMap((layer) => layer.methods));
  }
}

function partOf(path: string): string {
  const [, first = "", second = ""] = path.split("/", 3);
  return first === "api" ? `api/${second}` : first;
}
