import type { Middleware } from "koa";
import { pathOf } from "./requestLog.ts";

/** Headers of every response. Strict-Transport-Security is up to the proxy that terminates TLS. */
const DATA_HEADERS: Readonly<Record<string, string>> = {
  "Content-Security-Policy": "default-src 'none';frame-ancestors 'none'",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Referrer-Policy": "no-referrer",
  "X-Content-Type-Options": "nosniff",
  "X-Frame-Options": "SAMEORIGIN",
};

/** Headers of documents that a browser displays. */
const PAGE_HEADERS: Readonly<Record<string, string>> = {
  ...DATA_HEADERS,
  "Cross-Origin-Opener-Policy": "same-origin",
  "Origin-Agent-Cluster": "?1",
  "X-DNS-Prefetch-Control": "off",
  "X-Download-Options": "noopen",
  "X-Permitted-Cross-Domain-Policies": "none",
  "X-XSS-Protection": "0",
};

/**
 * Sets the headers that helmet recommends, with a policy that does not allow a document to load anything.
 * @param isData returns whether the responses at a path are never displayed as documents
 */
export function securityHeaders(isData: (path: string) => boolean): Middleware {
  return (ctx, next) => {
    const path = pathOf(ctx);
    ctx.set(path !== null && isData(path) ? DATA_HEADERS : PAGE_HEADERS);
    return next();
  };
}
