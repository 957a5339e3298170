import type { Context } from "koa";
import getRawBody from "raw-body";
import type { Mapping } from "../../hooks/mappings/mapping.ts";
import { acceptsBody, type BodyKind, type ContentCoding, decodeBody } from "../../hooks/mappings/requestBody.ts";
import { AppError } from "../../shared/errors.ts";
import { bodyCoding, checkType, isUtf8, mapBodyError, readBody } from "./body.ts";
import type { MemoryBudget } from "./memoryBudget.ts";

/** The body of a request to a mapped hook. */
export interface HookBody {
  /** The bytes as they were sent, perhaps compressed. */
  readonly sent: Buffer;
  /** The bytes without the content coding. */
  readonly decoded: Buffer;
  readonly kind: BodyKind;
}

/**
 * Reads and decodes the body of a request to a mapped hook. While it does so, it reserves memory for both the sent and the
 * decoded bytes.
 * @param limit maximum size in bytes, before and after it is decoded
 * @throws AppError unsupported_media_type, body_too_large, invalid_json
 */
export async function readHookBody(
  ctx: Context,
  candidates: readonly Mapping[],
  limit: number,
  bodies: MemoryBudget,
): Promise<HookBody> {
  const coding = contentCoding(ctx);
  const length = ctx.request.length ?? null;
  const kind = length === 0 ? "json" : bodyKind(ctx, candidates);
  const read = async () => {
    const sent = await getRawBody(ctx.req, { limit, length });
    return { sent, decoded: await decodeBody(sent, coding, limit), kind };
  };
  return readBody(ctx, coding === "identity" ? limit : 2 * limit, bodies, read).catch((error) => {
    throw error instanceof AppError ? error : mapBodyError(error, limit);
  });
}

const CODINGS: readonly string[] = ["identity", "gzip", "deflate"] satisfies ContentCoding[];

function contentCoding(ctx: Context): ContentCoding {
  const coding = bodyCoding(ctx);
  if (CODINGS.includes(coding)) return coding as ContentCoding;
  throw new AppError("unsupported_media_type", {
    detail: `The Content-Encoding ${coding} is not supported. Send the body uncompressed, or with gzip or deflate.`,
  });
}

/** Returns what the media type says the body is. @throws AppError unsupported_media_type unless a candidate takes it */
function bodyKind(ctx: Context, candidates: readonly Mapping[]): BodyKind {
  const kind = ctx.request.is("text/plain") ? "text/plain" : ctx.request.is("urlencoded") ? "form" : "json";
  if (kind === "json" || !isUtf8(ctx) || !candidates.some((mapping) => acceptsBody(mapping, kind))) checkType(ctx);
  return kind;
}
