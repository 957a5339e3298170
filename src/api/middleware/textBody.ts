import type { Context, Middleware } from "koa";
import getRawBody from "raw-body";
import { AppError } from "../../shared/errors.ts";
import { bodyCoding, mapBodyError, mediaType, readBody } from "./body.ts";
import type { MemoryBudget } from "./memoryBudget.ts";

/**
 * Reads a body into `ctx.request.body` as text in UTF-8; an absent one is `""`. Invalid bytes become U+FFFD, since a
 * program's output may hold any bytes.
 * @param limit maximum size in bytes
 * @param bodies limits the memory of bodies that are being read
 * @param types the media types that are taken (default: any)
 * @throws AppError body_too_large, unsupported_media_type for a compressed body
 */
export function textBody(limit: number, bodies: MemoryBudget, types?: readonly string[]): Middleware {
  return async (ctx, next) => {
    const type = mediaType(ctx);
    if (types && type !== "" && !types.includes(type)) {
      const detail = `The Content-Type is ${type}. Send the body as ${types.join(" or ")}.`;
      throw new AppError("unsupported_media_type", { detail });
    }
    ctx.request.body = ctx.request.length === 0 ? "" : await readText(ctx, limit, bodies);
    return next();
  };
}

async function readText(ctx: Context, limit: number, bodies: MemoryBudget): Promise<string> {
  if (bodyCoding(ctx) !== "identity") {
    throw new AppError("unsupported_media_type", { detail: "The body is compressed: send it as plain text." });
  }
  const read = () => getRawBody(ctx.req, { limit, length: ctx.request.length });
  const bytes = await readBody(ctx, limit, bodies, read).catch((error) => {
    throw error instanceof AppError ? error : mapBodyError(error, limit);
  });
  return new TextDecoder().decode(bytes);
}
