import Router from "@koa/router";
import type { Middleware } from "koa";
import type { AnyRoute } from "./route.ts";

/**
 * A router for each part of the address space, since a router tries its routes one after another: the part is the first
 * segment of a path, and under `/api` the second too. These are literal in every route.
 */
export class Routers {
  readonly #parts = new Map<string, { readonly router: Router; readonly answer: Middleware }>();

  /** Adds a route. */
  on(method: AnyRoute["method"], path: string, ...layers: Middleware[]): void {
    const name = partOf(path);
    let part = this.#parts.get(name);
    if (!part) {
      const router = new Router({ strict: true, sensitive: true });
      part = { router, answer: router.routes() as Middleware };
      this.#parts.set(name, part);
    }
    part.router[method](path, ...layers);
  }

  /** Answers by the route that fits; goes on where none does. */
  readonly answer: Middleware = (ctx, next) => {
    const part = this.#parts.get(partOf(ctx.path));
    return part ? part.answer(ctx, next) : next();
  };

  /** The methods that the routes at this path take; none where there is no route. */
  methodsAt(path: string): Set<string> {
    const layers = this.#parts.get(partOf(path))?.router.match(path, "GET").path ?? [];
    return new Set(layers.flatMap((layer) => layer.methods));
  }
}

function partOf(path: string): string {
  const [, first = "", second = ""] = path.split("/", 3);
  return first === "api" ? `api/${second}` : first;
}
