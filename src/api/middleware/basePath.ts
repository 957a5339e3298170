import type { Context, Middleware } from "koa";
import { PROBES } from "../../config/server.ts";
import { AppError } from "../../shared/errors.ts";

/**
 * Removes the configured base path from the path of each request, so that the routes do not contain it. Addresses in
 * responses contain it: see `publicPath`.
 * @param basePath such as `/signalbox`; empty at the root of a host
 * @throws AppError not_found for other paths, except those of probes
 */
export function removeBasePath(basePath: string): Middleware {
  return (ctx, next) => {
    const path = withoutBasePath(ctx.path, basePath);
    if (path !== undefined) ctx.path = path;
    else if (!PROBES.includes(ctx.path)) {
      throw new AppError("not_found", {
        detail: `There is nothing at ${ctx.path}: this service answers below ${basePath} (server.basePath). A proxy in front must keep that part of the path.`,
      });
    }
    return next();
  };
}

/** Returns the part of a path below the base path; undefined when it is elsewhere. */
export function withoutBasePath(path: string, basePath: string): string | undefined {
  if (path === basePath) return "/";
  return path.startsWith(`${basePath}/`) ? path.slice(basePath.length) : undefined;
}

/** Stores the base path for `publicPath`. Without it a service is at the root of its host. */
export function storeBasePath(basePath: string): Middleware {
  return (ctx, next) => {
    ctx.state.basePath = basePath;
    return next();
  };
}

/** Returns the path by which a client reaches a path of this service, by default that of the request. */
export const publicPath = (ctx: Context, path: string = ctx.path): string => (ctx.state.basePath ?? "") + path;
