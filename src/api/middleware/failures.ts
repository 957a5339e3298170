import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import { finished } from "node:stream/promises";
import type { Middleware } from "koa";
import { type AppError, ERRORS, toAppError } from "../../shared/errors.ts";
import type { Logger } from "../../shared/logger.ts";
import type { Metrics } from "../metrics/metrics.ts";

/**
 * Answers whatever is thrown behind it as RFC 9457 problem details. Nothing of an `internal` error goes outside.
 * @param restMs how long the rest of a body is awaited whose request is refused before all of it has come
 */
export function failures(log: Logger, metrics: Metrics, restMs: number): Middleware {
  return async (ctx, next) => {
    try {
      await next();
    } catch (thrown) {
      const error = toAppError(thrown);
      if (error.status >= 500)
        log.error({ reqId: ctx.state.requestId, code: error.code, err: error.cause }, "request failed");
      else metrics.refused.inc({ reason: error.code });
      ctx.status = error.status;
      ctx.set(error.headers);
      ctx.type = "application/problem+json";
      const text = JSON.stringify(problem(error));
      ctx.body = ctx.req.complete ? text : Readable.from(afterRest(ctx.req, text, restMs));
      ctx.length = Buffer.byteLength(text);
      ctx.state.code = error.code;
    }
  };
}

/**
 * The answer to a request of which not all has come: it is told at once, and ends when the rest has been read, which nobody
 * keeps. A client that sends all of its body before it reads would find its connection broken, and no answer. Who keeps the
 * rest back is cut off.
 */
async function* afterRest(req: IncomingMessage, text: string, withinMs: number): AsyncGenerator<string> {
  yield text;
  req.unpipe();
  await finished(req.resume(), { signal: AbortSignal.timeout(withinMs) }).catch(() => req.destroy());
}

function problem(error: AppError): object {
  const { title, status } = ERRORS[error.code];
  return {
    type: `/docs/errors#${error.code}`,
    title,
    status,
    detail: error.message,
    code: error.code,
    ...(error.errors && { errors: error.errors }),
  };
}
