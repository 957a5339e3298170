import { promisify } from "node:util";
import { gunzip, inflate, inflateRaw } from "node:zlib";
import { AppError } from "../../shared/errors.ts";
import { parseJsonBody } from "../../shared/text/json.ts";
import type { JsonBody, Mapping } from "./mapping.ts";

/** The kind of a body, by its media type: JSON, JSON that is sent as text, or the fields of a form. */
export type BodyKind = "json" | "text/plain" | "form";

/** The content codings that a mapped hook decodes. */
export type ContentCoding = "identity" | "gzip" | "deflate";

/** Returns whether a mapping takes bodies of a kind. Every mapping takes JSON, which Amazon SNS sends as text. */
export const acceptsBody = ({ accept = [], auth }: Pick<Mapping, "accept" | "auth">, kind: BodyKind): boolean =>
  kind === "json" || accept.includes(kind) || (kind === "text/plain" && auth?.type === "sns");

const decoders = { gzip: promisify(gunzip), zlib: promisify(inflate), raw: promisify(inflateRaw) };

/**
 * Decodes a compressed body.
 * @param limit maximum decoded size in bytes. The decoder stops there, however large the rest would become
 * @throws AppError body_too_large, invalid_json
 */
export async function decodeBody(bytes: Buffer, coding: ContentCoding, limit: number): Promise<Buffer> {
  if (coding === "identity" || bytes.length === 0) return bytes;
  // Some senders name a raw stream `deflate`, although RFC 9110 asks for the zlib format, which begins with the method 8.
  const format = coding === "gzip" ? "gzip" : ((bytes[0] ?? 0) & 0x0f) === 8 ? "zlib" : "raw";
  try {
    return await decoders[format](bytes, { maxOutputLength: limit });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE") {
      throw new AppError("body_too_large", {
        detail: `The body is larger than ${limit} bytes once it is decompressed, which is the limit of this endpoint.`,
      });
    }
    throw new AppError("invalid_json", { detail: `The body is not valid ${coding}: check the Content-Encoding.` });
  }
}

/**
 * Parses the decoded bytes of a body. An absent body is `{}`.
 * @throws AppError invalid_json
 */
export const parseBody = (bytes: Uint8Array, kind: BodyKind): JsonBody =>
  kind === "form" ? parseForm(bytes) : (parseJsonBody(bytes) as JsonBody);

/** Returns the fields of a form as an object of texts; a field that is repeated is a list. */
function parseForm(bytes: Uint8Array): JsonBody {
  const fields = new Map<string, string[]>();
  for (const [name, value] of new URLSearchParams(new TextDecoder().decode(bytes))) {
    const values = fields.get(name);
    if (values) values.push(value);
    else fields.set(name, [value]);
  }
  return Object.fromEntries(Array.from(fields, ([name, values]) => [name, values.length === 1 ? values[0] : values]));
}
