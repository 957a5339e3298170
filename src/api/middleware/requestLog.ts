import { randomUUID } from "node:crypto";
import type { Context, Middleware } from "koa";
import { AppError } from "../../shared/errors.ts";
import type { Logger } from "../../shared/logger.ts";
import type { Metrics } from "../metrics/metrics.ts";
import { checkQuery } from "./query.ts";

/** The status of a request whose client disconnected before the response, in logs and metrics; nginx uses the same. */
const CLIENT_GONE = 499;
const ACCEPTED_ID = /^[\w.:/+=-]{1,128}$/;

/** The path below which people answer gates. What follows it is a token. */
export const ANSWER_PATH = "/answer";

/** The path below which tools ping. What follows it is a token or another secret. */
export const PING_PATH = "/ping";

/**
 * Gives each request an id (the client's X-Request-Id if it is well-formed), and records the request in the log and the
 * metrics once its response is closed. Logs the path without the query, which may contain a token.
 * A token in the path is left out too.
 */
export function requestLog(log: Logger, metrics: Metrics): Middleware {
  return async (ctx, next) => {
    const started = performance.now();
    const clientId = ctx.get("X-Request-Id");
    const serviceReqId = randomUUID();
    const reqId = ACCEPTED_ID.test(clientId) ? clientId : serviceReqId;
    ctx.state.requestId = reqId;
    ctx.state.serviceRequestId = serviceReqId;
    ctx.res.setHeader("X-Request-Id", reqId);
    ctx.res.once("close", () => {
      const seconds = (performance.now() - started) / 1_000;
      const { method } = ctx;
      const status = ctx.res.headersSent ? ctx.status : CLIENT_GONE;
      const path = loggedPath(ctx);
      const route: string = ctx.state.operation ?? "none";
      const { isStream, mayWait } = ctx.state;
      const held = Boolean(isStream || mayWait); // the client determines the duration of a stream or a wait
      if (!held)
        metrics.requestSeconds.observe(
          { method: KNOWN_METHODS.has(method) ? method : "other", route, status },
          seconds,
        );
      const ms = Math.round(seconds * 1e5) / 100;
      const own = reqId !== serviceReqId && { serviceReqId }; // the caller may send the id of another request
      const line = { reqId, ...own, method, path, status, code: ctx.state.code, ms, ...(held && { held }) };
      log.info(ctx.res.writableFinished || isStream ? line : { ...line, aborted: true }, "the request has ended");
    });
    await next();
  };
}

/**
 * Replaces an absolute URL in the request line by its path, so that middleware behind it finds a path. Rejects invalid
 * targets such as `http://[`: Node's legacy URL parser, which Koa uses, throws for some and prints others in a warning.
 * Rejects queries with too many parameters too.
 * @throws AppError invalid_query
 */
export const checkTarget: Middleware = (ctx, next) => {
  const { url = "" } = ctx.req;
  const absolute = url.startsWith("/") ? undefined : URL.parse(url);
  if (absolute === null || (absolute && !/^https?:$/.test(absolute.protocol))) {
    throw new AppError("invalid_query", { detail: "The request target must be a path or an http or https URL." });
  }
  if (absolute) ctx.req.url = absolute.pathname + absolute.search;
  checkQuery(ctx.req.url ?? "");
  return next();
};

/** Returns the path of a request, or null when its target is not a path. */
export const pathOf = (ctx: Context): string | null => (ctx.req.url?.startsWith("/") ? ctx.path : null);

/** The path below which links show a job. What follows it is a token. */
export const SHARE_PATH = "/s";

/** Matches what precedes a token in a path. */
const BEFORE_TOKEN = new RegExp(`^.*?(${ANSWER_PATH}|${SHARE_PATH}|(?<!/api)${PING_PATH})/`, "is");

/** Returns the path for the log. A token in it is left out, also where the path is not served. */
function loggedPath(ctx: Context): string | null {
  const path = pathOf(ctx);
  const [before] = path?.startsWith("/api/") ? [] : (BEFORE_TOKEN.exec(path ?? "") ?? []);
  return before === undefined ? path : `${before}[token]`;
}

const KNOWN_METHODS = new Set(["GET", "HEAD", "PUT", "POST", "DELETE", "OPTIONS", "PATCH"]);
