import { AppError } from "./errors.ts";

/**
 * Returns the JSON text of a value that was parsed from JSON.
 * @throws AppError invalid_body for a value nested some thousand levels deep, which can be parsed but not serialized
 */
export function toJson(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw tooDeep();
  }
}

/** Matches a quotation mark, or an integer that may be beyond ±2^53. */
const MARK_OR_NUMBER = /"|(?<![\d.eE+-])-?[1-9]\d{15,}(?![\d.eE])/g;

/**
 * Parses a JSON text. An integer beyond ±2^53, which JSON.parse would round, becomes a string of its digits.
 * @throws SyntaxError
 */
export function parseJson(text: string): unknown {
  // A reviver takes half a second for a megabyte of numbers, and Node 20 does not pass it the digits.
  const value: unknown = JSON.parse(text);
  if (!/(?:^|[[:,\s])-?[1-9]\d{15}/.test(text)) return value;
  let quoted = "";
  let copiedUpTo = 0;
  for (let found = nextMark(text, 0); found; found = nextMark(text, found.end)) {
    if (found.isText || Number.isSafeInteger(Number(found.mark))) continue;
    quoted += `${text.slice(copiedUpTo, found.end - found.mark.length)}"${found.mark}"`;
    copiedUpTo = found.end;
  }
  return quoted === "" ? value : JSON.parse(quoted + text.slice(copiedUpTo));
}

/** Returns the next string or long integer in valid JSON, and the index at which it ends; null when there is none. */
function nextMark(text: string, from: number): { mark: string; isText: boolean; end: number } | null {
  MARK_OR_NUMBER.lastIndex = from;
  const [mark] = MARK_OR_NUMBER.exec(text) ?? [];
  if (mark === undefined) return null;
  let end = MARK_OR_NUMBER.lastIndex;
  if (mark !== '"') return { mark, isText: false, end };
  while (text[end] !== '"') end += text[end] === "\\" ? 2 : 1;
  return { mark, isText: true, end: end + 1 };
}

/** Maximum nesting of JSON. Real data has fewer levels; a thread's stack allows more than a thousand. */
const MAX_LEVELS = 500;

/** Checks the nesting of a value that was parsed from JSON. @throws AppError invalid_body above 500 levels */
export function checkDepth(value: unknown): void {
  if (isDeeper(value, MAX_LEVELS)) throw tooDeep();
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (levels === 0) return true;
  for (const item of Array.isArray(value) ? value : Object.values(value)) if (isDeeper(item, levels - 1)) return true;
  return false;
}

function tooDeep(): AppError {
  const detail = "is nested too deeply: send at most 500 levels of objects and lists";
  return new AppError("invalid_body", { detail: `The body ${detail}.`, errors: [{ pointer: "", detail }] });
}

/** Returns whether a value is an object as JSON.parse returns it: neither null nor an array. */
export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
