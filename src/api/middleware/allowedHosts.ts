import { isIP } from "node:net";
import type { Context, Middleware } from "koa";
import { AppError } from "../../shared/errors.ts";

/**
 * Rejects requests whose Host is not a name of this service. Without a token, only the Host distinguishes the service's own
 * pages from those of a site that has resolved its name to this machine (DNS rebinding). IP addresses are always allowed,
 * because they cannot be rebound.
 * @param allowed host names besides `localhost`
 * @throws AppError forbidden
 */
export function allowedHosts(allowed: readonly string[]): Middleware {
  const names = new Set(allowed.map((name) => name.toLowerCase()));
  let lastAllowed: string | undefined; // most requests have the same Host
  return (ctx, next) => {
    const { host } = ctx.req.headers;
    if (host === lastAllowed) return next();
    const name = hostName(ctx);
    if (name === "" || isIP(name) || /(^|\.)localhost$/.test(name) || names.has(name)) {
      lastAllowed = host;
      return next();
    }
    throw new AppError("forbidden", {
      detail:
        "The host name of this request is not allowed. Use an IP address or localhost, add the name to server.allowedHosts, or set server.apiToken.",
    });
  };
}

/**
 * Returns the name in the Host header, or "" when there is none: browsers always send it. Ignores `X-Forwarded-Host`, which
 * a page can set.
 */
function hostName({ req }: Context): string {
  if (!req.headers.host) return "";
  const { hostname = "unreadable" } = URL.parse(`http://${req.headers.host}`) ?? {};
  return hostname.replace(/^\[|\]$|\.$/g, "");
}
