import * as f from "../../db/fields.ts";
import type { FreeObject } from "../freeObject.ts";

/** The terms that the search for jobs by metadata compares. */

/**
 * A key of `metadata` with its value: `key=value` if neither contains an equals sign, otherwise an object,
 * because text with several of these signs would be ambiguous.
 */
export const SearchTerm = f.free<string | { key: string; value: string }>();
export type SearchTerm = f.Stored<typeof SearchTerm>;

/** Maximum search terms of one job, each an entry in an index. */
const MAX_TERMS = 100;
const MAX_TERM_LENGTH = 256;

/**
 * Returns the terms that the search by `metadata.KEY=value` compares: one for each string, number and boolean in the object, with
 * the keys of nested objects joined by dots, and each item of an array under the array's key. Returns the first 100 terms of at
 * most 256 characters; other values are stored but cannot be searched for.
 */
export function searchTerms(metadata: FreeObject | null): SearchTerm[] {
  const terms = new Map<string, SearchTerm>();
  const stack: [string, unknown][] = [["", metadata]];
  for (let entry = stack.pop(); entry && terms.size < MAX_TERMS; entry = stack.pop()) {
    const [path, value] = entry;
    if (Array.isArray(value)) for (const item of value.toReversed()) stack.push([path, item]);
    else if (typeof value === "object" && value !== null) {
      const keys = Object.keys(value).reverse();
      for (const key of keys) stack.push([path ? `${path}.${key}` : key, (value as FreeObject)[key]]);
    } else if (value !== null) {
      const text = String(value);
      const isShort = path.length + 1 + text.length <= MAX_TERM_LENGTH;
      if (isShort) terms.set(JSON.stringify([path, text]), searchTerm(path, text));
    }
  }
  return [...terms.values()];
}

/** Returns the term of one key and value. */
export function searchTerm(key: string, value: string): SearchTerm {
  return key.includes("=") || value.includes("=") ? { key, value } : `${key}=${value}`;
}
