import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import { finished } from "node:stream/promises";
import type { Middleware } from "koa";
import { ERRORS } from "../../shared/errorCatalogue.ts";
import { type AppError, toAppError } from "../../shared/errors.ts";
import type { Logger } from "../../shared/logger.ts";
import type { Metrics } from "../metrics/metrics.ts";
import { publicPath } from "./basePath.ts";

/**
 * Answers errors of the middleware behind it as RFC 9457 problem details. Does not reveal the causes of `internal` errors.
 * @param drainMs how long the rest of the body is drained when a request is rejected before its body has arrived
 */
export function problemDetails(log: Logger, metrics: Metrics, drainMs: number): Middleware {
  return async (ctx, next) => {
    try {
      await next();
    } catch (thrown) {
      const error = toAppError(thrown);
      if (error.status >= 500)
        log.error({ reqId: ctx.state.requestId, code: error.code, err: error.cause }, "the request failed");
      else metrics.refused.inc({ reason: error.code });
      ctx.status = error.status;
      ctx.set(error.headers);
      ctx.type = "application/problem+json";
      const text = `${JSON.stringify(problem(error, publicPath(ctx, `/docs/errors#${error.code}`)))}\n`;
      ctx.body = ctx.req.complete ? text : Readable.from(drainAfter(ctx.req, text, drainMs));
      ctx.length = Buffer.byteLength(text);
      ctx.state.code = error.code;
    }
  };
}

/**
 * Responds before the whole request body has arrived, then drains and discards the rest. A client that sends all of its body
 * before it reads would otherwise see a reset instead of the response. Closes the connection when the rest does not arrive
 * in time.
 */
async function* drainAfter(req: IncomingMessage, text: string, drainMs: number): AsyncGenerator<string> {
  yield text;
  req.unpipe();
  await finished(req.resume(), { signal: AbortSignal.timeout(drainMs) }).catch(() => req.destroy());
}

function problem(error: AppError, type: string): object {
  const { title, status } = ERRORS[error.code];
  return {
    type,
    title,
    status,
    detail: error.message,
    code: error.code,
    ...(error.errors && { errors: error.errors }),
    ...error.body,
  };
}
