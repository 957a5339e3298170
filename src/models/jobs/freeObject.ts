import { AppError } from "../../shared/errors.ts";
import { replaceLoneSurrogates, toJson } from "../../shared/json.ts";

/** An object with any content: the input, metadata or output of a job. */
export type FreeObject = Record<string, unknown>;

/** Maximum JSON text of one free object, in bytes: three of them and the rest of a job fit into MongoDB's 16 MiB for a document. */
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
    throw new AppError("body_too_large", { detail: `${field} is larger than ${MAX_BYTES} bytes of JSON.` });
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

/** Maximum search terms of one job, each an entry in an index. */
const MAX_TERMS = 100;
const MAX_TERM_LENGTH = 256;

/**
 * Returns the terms that the search by `metadata.KEY=value` compares: `key=value` for each string, number and boolean in the
 * object, with the keys of nested objects joined by dots, and each item of an array under the array's key. Returns the first 100
 * terms of at most 256 characters; other values are stored but cannot be searched for.
 */
export function searchTerms(metadata: FreeObject | null): string[] {
  const terms = new Set<string>();
  const stack: [string, unknown][] = [["", metadata]];
  for (let entry = stack.pop(); entry && terms.size < MAX_TERMS; entry = stack.pop()) {
    const [path, value] = entry;
    if (Array.isArray(value)) for (const item of value.toReversed()) stack.push([path, item]);
    else if (typeof value === "object" && value !== null) {
      const keys = Object.keys(value).reverse();
      for (const key of keys) stack.push([path ? `${path}.${key}` : key, (value as FreeObject)[key]]);
    } else if (value !== null) {
      const term = searchTerm(path, String(value));
      if (term.length <= MAX_TERM_LENGTH) terms.add(term);
    }
  }
  return [...terms];
}

/** Returns the term of one key and value. */
export function searchTerm(key: string, value: string): string {
  return `${key}=${value}`;
}
