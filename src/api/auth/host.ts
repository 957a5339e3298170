import { isIP } from "node:net";
import type { Context, Middleware } from "koa";
import { AppError } from "../../shared/errors.ts";

/**
 * Refuses requests under a name that is not this service's. Where no token is asked for, only the name tells its own pages
 * from those of a site whose name its owner has lead to this machine (DNS rebinding). An address can be led nowhere.
 * @param allowed names besides `localhost`
 * @throws AppError forbidden
 */
export function hostGuard(allowed: readonly string[]): Middleware {
  const names = new Set(allowed.map((name) => name.toLowerCase()));
  let passed: string | undefined; // most requests bring the same
  return (ctx, next) => {
    const { host } = ctx.req.headers;
    if (host === passed) return next();
    const name = hostName(ctx);
    if (name === "" || isIP(name) || /(^|\.)localhost$/.test(name) || names.has(name)) {
      passed = host;
      return next();
    }
    throw new AppError("forbidden", {
      detail:
        "This name is not known here: use an IP address or localhost, set server.apiToken, or list the name in server.allowedHosts.",
    });
  };
}

/** Empty where the request has none, which no browser's is. Not `X-Forwarded-Host`: a page may set that. */
function hostName({ req }: Context): string {
  if (!req.headers.host) return "";
  const { hostname = "unreadable" } = URL.parse(`http://${req.headers.host}`) ?? {};
  return hostname.replace(/^\[|\]$|\.$/g, "");
}
