import type { Middleware } from "koa";
import { pathOf } from "./requests.ts";

/** On every answer. Strict-Transport-Security is left to the proxy that ends TLS. */
const DATA_HEADERS: Readonly<Record<string, string>> = {
  "Content-Security-Policy": "default-src 'none';frame-ancestors 'none'",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Referrer-Policy": "no-referrer",
  "X-Content-Type-Options": "nosniff",
  "X-Frame-Options": "SAMEORIGIN",
};

/** Additional headers concern only documents that a browser displays. */
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
 * Sets the headers that helmet recommends, with a policy that lets a document load nothing.
 * @param isOfData whether the answers at this path are never displayed as documents
 */
export function securityHeaders(isOfData: (path: string) => boolean): Middleware {
  return (ctx, next) => {
    const path = pathOf(ctx);
    ctx.set(path !== null && isOfData(path) ? DATA_HEADERS : PAGE_HEADERS);
    return next();
  };
}
