import { randomUUID } from "node:crypto";
import type { Context, Middleware } from "koa";
import { AppError } from "../../shared/errors.ts";
import type { Logger } from "../../shared/logger.ts";
import type { Metrics } from "../metrics/metrics.ts";

/** For the log and the metrics alone: nobody is there to be answered. As nginx has it. */
const CLIENT_GONE = 499;
const ACCEPTED_ID = /^[\w.:/+=-]{1,128}$/;

/**
 * Gives each request an id (the caller's own X-Request-Id where it is harmless), and notes it in the log and the
 * metrics once it is answered. The path goes into the log without the query, which may hold a token.
 */
export function requests(log: Logger, metrics: Metrics): Middleware {
  return async (ctx, next) => {
    const started = performance.now();
    const given = ctx.get("X-Request-Id");
    const reqId = ACCEPTED_ID.test(given) ? given : randomUUID();
    ctx.state.requestId = reqId;
    ctx.res.setHeader("X-Request-Id", reqId);
    ctx.res.once("close", () => {
      const seconds = (performance.now() - started) / 1_000;
      const { method } = ctx;
      const status = ctx.res.headersSent ? ctx.status : CLIENT_GONE;
      const path = pathOf(ctx);
      const route: string = ctx.state.operation ?? "none";
      const { isStream } = ctx.state; // it lasts as long as its client likes
      if (!isStream)
        metrics.requestSeconds.observe(
          { method: KNOWN_METHODS.has(method) ? method : "other", route, status },
          seconds,
        );
      const line = { reqId, method, path, status, code: ctx.state.code, ms: Math.round(seconds * 1e5) / 100 };
      log.info(ctx.res.writableFinished || isStream ? line : { ...line, aborted: true }, "request");
    });
    await next();
  };
}

/**
 * A request's line may hold a whole URL, whose path counts, and what is neither, such as `http://[`: Node's old parser of
 * URLs, which Koa asks, throws of some of that, and of some says in a warning what it was. Behind this there is a path.
 * @throws AppError invalid_query
 */
export const checkTarget: Middleware = (ctx, next) => {
  const { url = "" } = ctx.req;
  const whole = url.startsWith("/") ? undefined : URL.parse(url);
  if (whole === null || (whole && !/^https?:$/.test(whole.protocol))) {
    throw new AppError("invalid_query", { detail: "The target of the request is neither a path nor a URL." });
  }
  if (whole) ctx.req.url = whole.pathname + whole.search;
  return next();
};

/** Null where the target of the request is a whole URL, or neither. */
export const pathOf = (ctx: Context): string | null => (ctx.req.url?.startsWith("/") ? ctx.path : null);

const KNOWN_METHODS = new Set(["GET", "HEAD", "PUT", "POST", "DELETE", "OPTIONS", "PATCH"]);
