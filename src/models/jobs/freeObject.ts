import { AppError } from "../../shared/errors.ts";
import { replaceLoneSurrogates, toJson } from "../../shared/text/json.ts";

/** An object with any content: the input, metadata or output of a job. */
export type FreeObject = Record<string, unknown>;

/**
 * Maximum JSON text of one free object, in bytes: three of them and the rest of a job fit into MongoDB's 16 MiB for a
 * document.
 */
const MAX_BYTES = 5 * 1024 * 1024;

/**
 * Returns the JSON text as which a free object is stored. Text holds any key (`$where`, `a.b`, `__proto__`, `_bsontype`) and
 * any depth unchanged, and nothing in it can act as an operator.
 * @throws AppError body_too_large, invalid_body
 */
export function packObject(field: string, value: FreeObject | null): string | null {
  if (value === null) return null;
  const text = toJson(value);
  if (Buffer.byteLength(text) > MAX_BYTES) {
    throw new AppError("body_too_large", {
      detail: `${field} is larger than ${MAX_BYTES} bytes as JSON. Store large data elsewhere and send a reference to it.`,
    });
  }
  return text;
}

/**
 * Returns the object of a stored text, or null if there is no text, also because a projection left it out. Texts of earlier
 * versions may have half a surrogate pair, which becomes U+FFFD.
 */
export function unpackObject(text: string | null | undefined): FreeObject | null {
  return text == null ? null : JSON.parse(replaceLoneSurrogates(text));
}
