import { AppError } from "../../shared/errors.ts";
import { toJson } from "../../shared/json.ts";

/** An object whose content is the caller's: input, metadata, output. */
export type FreeObject = Record<string, unknown>;

/** Largest text of one free object: three of them and the rest of a job stay under MongoDB's 16 MiB for a document. */
const MAX_BYTES = 5 * 1024 * 1024;

/**
 * Free objects are kept as their JSON text: it holds any key (`$where`, `a.b`, `__proto__`, `_bsontype`) and any depth
 * as the caller sent it, and nothing in it can act as an operator.
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

/** Null also for a field that a projection left out. */
export function unpackObject(text: string | null | undefined): FreeObject | null {
  return text == null ? null : JSON.parse(text);
}

const MAX_TERMS = 100;
const MAX_TERM_LENGTH = 256;

/**
 * What `metadata.KEY=value` finds: `key=value` for each string, number and boolean in the object, keys of nested
 * objects joined by dots, each item of an array under the array's key. The first 100 that are at most 256 characters
 * long; the rest is kept but cannot be searched for.
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

export function searchTerm(key: string, value: string): string {
  return `${key}=${value}`;
}
