import type { Context, Middleware } from "koa";
import bodyParser from "koa-bodyparser";
import { AppError } from "../../shared/errors.ts";
import type { MemoryBudget } from "./memoryBudget.ts";

/**
 * Reads a JSON body into `ctx.request.body`; an absent one is `{}`.
 * @param bodies limits the memory of the bodies that are being read
 * @throws AppError unsupported_media_type, invalid_json, body_too_large
 */
export function jsonBody(limit: number, bodies: MemoryBudget): Middleware {
  const options: bodyParser.Options & { onProtoPoisoning: "ignore" } = {
    enableTypes: ["json"],
    jsonLimit: String(limit),
    detectJSON: () => true, // the type has been checked by then
    onProtoPoisoning: "ignore", // free objects may have any key; they are kept as text, never merged
    onerror: (error) => {
      throw namedBodyError(error, limit);
    },
  };
  const parse = bodyParser(options);
  return async (ctx, next) => {
    if (ctx.request.length === 0) ctx.request.body = {};
    else {
      checkType(ctx);
      ctx.req.headers["content-encoding"] = bodyCoding(ctx); // the parser knows no other names
      const read = () => parse(ctx as Parameters<typeof parse>[0], async () => {});
      await readBody(ctx, limit, bodies, isPacked(ctx) ? () => untilGone(ctx, read) : read);
    }
    return next();
  };
}

/** @returns what the body is packed with, by its usual name: RFC 9110, 8.4.1 */
export function bodyCoding(ctx: Context): string {
  const coding = ctx.get("Content-Encoding").toLowerCase() || "identity";
  return coding === "x-gzip" ? "gzip" : coding;
}

const isPacked = (ctx: Context): boolean => bodyCoding(ctx) !== "identity";

/** Reads a packed body: who unpacks it does not hear that its client goes away, and would wait for the rest for ever. */
function untilGone<T>({ req }: Context, read: () => Promise<T>): Promise<T> {
  const gone = Promise.withResolvers<never>();
  req.once("close", () => req.complete || gone.reject(endedEarly()));
  return Promise.race([read(), gone.promise]);
}

/**
 * Has a body read that is kept in memory until it is whole.
 * @param limit its most bytes where it does not say how long it is
 */
export async function readBody<T>(
  ctx: Context,
  limit: number,
  bodies: MemoryBudget,
  read: () => Promise<T>,
): Promise<T> {
  askForBody(ctx);
  const length = isPacked(ctx) ? undefined : ctx.request.length; // once unpacked it is longer than it says
  const release = bodies.reserve(ctx.req, Math.min(length ?? limit, limit));
  try {
    return await read();
  } finally {
    release();
  }
}

/** A client that sent `Expect: 100-continue` sends its body only now. */
function askForBody({ req, res }: Context): void {
  if (req.headers.expect?.toLowerCase() === "100-continue") res.writeContinue();
}

/** @throws AppError unsupported_media_type also where the JSON is said to be no UTF-8, which other JSON is not (RFC 8259) */
export function checkType(ctx: Context): void {
  const type = ctx.get("Content-Type") || "none";
  if (type === "application/json") return;
  const isJson = ctx.request.is("application/json", "application/*+json") !== false;
  if (isJson && UTF_8.includes(ctx.request.charset.toLowerCase())) return;
  const detail = `Content-Type is ${type}; send JSON as application/json${isJson ? ", in UTF-8" : ""}.`;
  throw new AppError("unsupported_media_type", { detail });
}

/** None said is UTF-8, and so is all that is ASCII. */
const UTF_8: readonly string[] = ["", "utf-8", "utf8", "us-ascii", "ascii"];

/** The parser's errors carry the body; only their kind goes on. */
export function namedBodyError(error: object & { status?: number; type?: string }, limit: number): AppError {
  if (error.status === 413) {
    return new AppError("body_too_large", { detail: `The body is larger than the ${limit} bytes that it may have.` });
  }
  if (error.status === 415)
    return new AppError("unsupported_media_type", { detail: "The encoding of the body is not known." });
  if (error.type === "request.aborted" || error.type === "request.size.invalid") return endedEarly();
  return new AppError("invalid_json", { detail: "The body is not a JSON object." });
}

const endedEarly = () => new AppError("invalid_json", { detail: "The body ended early." });
