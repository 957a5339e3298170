import { isObject } from "../../shared/text/json.ts";

/** Maximum bytes of a tool's result as JSON: some ten thousand tokens of a model. */
export const MAX_RESULT_BYTES = 40_000;

/** The fields that hold any object of a client: they are left out as a whole, so that nothing in them is misread. */
const FREE_OBJECTS: readonly string[] = ["input", "metadata", "output", "content", "requestedSchema"];

/** Returns the placeholder of an object that a result has no room for. It fits the schema, which allows any object. */
export const omitted = (size: number) => ({ omitted: `${size} ${OMITTED}` });

/** The words by which a result with such a placeholder is told apart. */
export const OMITTED = "bytes, which is too much for one result";

/**
 * Shortens a response until its JSON has at most so many bytes, and keeps its shape: it cuts long texts, leaves out large
 * objects, and of a list the first rows. The room that small fields leave is shared by the large ones.
 */
export function brief(value: unknown, maxBytes: number): unknown {
  const size = bytesOf(value);
  if (size <= maxBytes) return value;
  if (typeof value === "string") return cutText(value, size, maxBytes);
  if (Array.isArray(value)) return lastRows(value, maxBytes);
  return isObject(value) ? briefFields(value, maxBytes) : value;
}

function briefFields(fields: Record<string, unknown>, maxBytes: number): Record<string, unknown> {
  const sizes = Object.entries(fields).map(([name, value]) => ({
    name,
    value,
    frame: name.length + 4,
    size: bytesOf(value),
  }));
  const shortened = new Map<string, unknown>();
  let room = maxBytes - 2;
  for (const [i, { name, value, frame, size }] of sizes.toSorted((one, other) => one.size - other.size).entries()) {
    const share = room / (sizes.length - i) - frame;
    const isFree = FREE_OBJECTS.includes(name) && isObject(value);
    const kept = size > share && isFree ? omitted(size) : brief(value, share);
    shortened.set(name, kept);
    room -= frame + bytesOf(kept);
  }
  return Object.fromEntries(sizes.map(({ name }) => [name, shortened.get(name)]));
}

/** Returns the last rows that fit, none of which takes more than a quarter of the room. */
function lastRows(rows: readonly unknown[], maxBytes: number): unknown[] {
  const kept: unknown[] = [];
  let room = maxBytes - 2;
  for (const row of rows.toReversed()) {
    const shortened = brief(row, maxBytes / 4);
    room -= bytesOf(shortened) + 1;
    if (room < 0) break;
    kept.push(shortened);
  }
  return kept.reverse();
}

/** Shorter texts are not cut: an id or a time would be another one. */
const MIN_CUT_CHARS = 512;

function cutText(text: string, size: number, maxBytes: number): string {
  if (text.length <= MIN_CUT_CHARS) return text;
  let chars = Math.floor((maxBytes / size) * text.length);
  for (;;) {
    const cut = `${text.slice(0, Math.max(chars, 0)).toWellFormed()}… (cut)`;
    if (bytesOf(cut) <= maxBytes || chars <= MIN_CUT_CHARS) return cut;
    chars = Math.floor(0.8 * chars);
  }
}

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value) ?? "");
