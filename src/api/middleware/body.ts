import type { Context, Middleware } from "koa";
import bodyParser from "koa-bodyparser";
import { AppError } from "../../shared/errors.ts";
import { NOT_JSON, parseJsonBody } from "../../shared/text/json.ts";
import type { MemoryBudget } from "./memoryBudget.ts";

/**
 * Reads a JSON body into `ctx.request.body`; an absent one is `{}`.
 * @param limit maximum size in bytes
 * @param bodies limits the memory of bodies that are being read
 * @throws AppError unsupported_media_type, invalid_json, body_too_large
 */
export function jsonBody(limit: number, bodies: MemoryBudget): Middleware {
  const options: bodyParser.Options & { encoding: null } = {
    enableTypes: ["text"],
    extendTypes: { text: ["*/*"] }, // checkType has checked the type
    textLimit: String(limit),
    encoding: null, // bytes instead of text, in which other bytes than UTF-8 would be replaced
    onerror: (error) => {
      throw mapBodyError(error, limit);
    },
  };
  const readBytes = bodyParser(options);
  return async (ctx, next) => {
    if (hasNoBody(ctx)) ctx.request.body = {};
    else {
      checkType(ctx);
      ctx.req.headers["content-encoding"] = bodyCoding(ctx); // the parser does not know the alias x-gzip
      const read = () => readBytes(ctx as Parameters<typeof readBytes>[0], async () => {});
      await readBody(ctx, limit, bodies, isCompressed(ctx) ? () => rejectOnClose(ctx, read) : read);
      ctx.request.body = parseJsonBody(ctx.request.body as unknown as Buffer);
    }
    return next();
  };
}

/** Returns the media type of the body in lower case, without parameters; empty if the request names none. */
export const mediaType = ({ request }: Context): string => request.type.trim().toLowerCase();

/** Returns whether a request has no body or an empty one. One without either header has none (RFC 9112, 6.3). */
function hasNoBody({ request }: Context): boolean {
  return request.length === 0 || (request.length === undefined && request.get("Transfer-Encoding") === "");
}

/** Returns the content coding of the body in lower case, with the alias x-gzip resolved (RFC 9110, 8.4.1). */
export function bodyCoding(ctx: Context): string {
  const coding = ctx.get("Content-Encoding").toLowerCase() || "identity";
  return coding === "x-gzip" ? "gzip" : coding;
}

const isCompressed = (ctx: Context): boolean => bodyCoding(ctx) !== "identity";

/** Reads a compressed body. The decompressor does not notice that the client disconnects, and would wait for ever. */
function rejectOnClose<T>({ req }: Context, read: () => Promise<T>): Promise<T> {
  const closed = Promise.withResolvers<never>();
  req.once("close", () => req.complete || closed.reject(incompleteBody()));
  return Promise.race([read(), closed.promise]);
}

/**
 * Reads a body that stays in memory until it is complete, within the memory budget.
 * @param limit maximum size in bytes, reserved when the request does not state its length
 */
export async function readBody<T>(
  ctx: Context,
  limit: number,
  bodies: MemoryBudget,
  read: () => Promise<T>,
): Promise<T> {
  sendContinue(ctx);
  const length = isCompressed(ctx) ? undefined : ctx.request.length; // the length is that of the compressed body
  const release = bodies.reserve(ctx.req, Math.min(length ?? limit, limit));
  try {
    return await read();
  } finally {
    release();
  }
}

/** Sends 100 Continue to a client that waits for it before it sends its body. */
function sendContinue({ req, res }: Context): void {
  if (req.headers.expect?.toLowerCase() === "100-continue") res.writeContinue();
}

/**
 * Checks that the body is JSON in UTF-8, the only encoding that RFC 8259 allows.
 * @throws AppError unsupported_media_type
 */
export function checkType(ctx: Context): void {
  const type = ctx.get("Content-Type") || "none";
  if (type === "application/json") return;
  const isJson = ctx.request.is("application/json", "application/*+json") !== false;
  if (isJson && isUtf8(ctx)) return;
  const detail = `The Content-Type is ${type}. Send JSON with Content-Type application/json${isJson ? ", in UTF-8" : ""}.`;
  throw new AppError("unsupported_media_type", { detail });
}

/** Returns whether the media type names UTF-8 or no charset. */
export const isUtf8 = (ctx: Context): boolean => UTF_8.includes(ctx.request.charset.toLowerCase());

/** Charsets that are UTF-8 or a subset of it; none means UTF-8. */
const UTF_8: readonly string[] = ["", "utf-8", "utf8", "us-ascii", "ascii"];

/** Maps an error of a body parser to ours, without its message, which quotes the body. */
export function mapBodyError(error: object & { status?: number; type?: string }, limit: number): AppError {
  if (error.status === 413) {
    return new AppError("body_too_large", {
      detail: `The body is larger than ${limit} bytes, the limit of this endpoint.`,
    });
  }
  if (error.status === 415)
    return new AppError("unsupported_media_type", {
      detail: "The Content-Encoding of the body is not supported. Send the body uncompressed or with gzip.",
    });
  if (error.type === "request.aborted" || error.type === "request.size.invalid") return incompleteBody();
  return new AppError("invalid_json", { detail: NOT_JSON });
}

const incompleteBody = () =>
  new AppError("invalid_json", { detail: "The connection closed before the whole body arrived." });
