import { pipeline, Readable } from "node:stream";
import { promisify } from "node:util";
import { createGzip, gzip } from "node:zlib";
import type { Middleware } from "koa";

/** Smaller bodies fit into two packets of the network either way. */
const MIN_BYTES = 2_048;
/** The types of texts, except streams of events, which must not wait in a buffer. */
const COMPRESSIBLE = /^(text\/(?!event-stream)|application\/(json|javascript|openmetrics-text)|image\/svg\+xml)/;

const compressAll = promisify(gzip);

/**
 * Compresses the answers to GET and HEAD requests with gzip, for clients that accept it. Leaves out files that a build has
 * compressed. koa-compress would compute the length of each answer first, small ones on the report path included, and has
 * five packages.
 */
export const compress: Middleware = async (ctx, next) => {
  await next();
  const { body } = ctx;
  if (!["GET", "HEAD"].includes(ctx.method) || ctx.status !== 200 || !body || ctx.response.get("Content-Encoding"))
    return;
  if (!COMPRESSIBLE.test(ctx.type)) return;
  ctx.vary("Accept-Encoding");
  if (!/\bgzip\b/.test(ctx.get("Accept-Encoding")) || ctx.acceptsEncodings("gzip", "identity") !== "gzip") return;
  if (body instanceof Readable) {
    ctx.body = pipeline(body, createGzip(), () => {}); // Koa handles an error of the body
  } else {
    const bytes = typeof body === "string" || Buffer.isBuffer(body) ? body : JSON.stringify(body);
    if (Buffer.byteLength(bytes) < MIN_BYTES) return;
    ctx.body = await compressAll(bytes);
  }
  ctx.set("Content-Encoding", "gzip");
};
