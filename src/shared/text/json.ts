import { AppError } from "../errors.ts";

/**
 * Returns the JSON text of a value that was parsed from JSON, with U+FFFD for half a surrogate pair.
 * @throws AppError invalid_body for a value nested some thousand levels deep, which can be parsed but not serialized
 */
export function toJson(value: unknown): string {
  try {
    return replaceLoneSurrogates(JSON.stringify(value));
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw tooDeep();
  }
}

/** Matches a quotation mark, or a number that a double may not hold: of 16 digits or more, or with an exponent of three. */
const MARK_OR_NUMBER = /"|(?<![\d.eE+-])-?(?:\d{16}[\d.]*(?:[eE][+-]?\d+)?|[\d.]+[eE][+-]?\d{3,})/g;

const HAS_UNSAFE_NUMBER = /(?:^|[[:,\s])-?(?:\d{16}|[\d.]+[eE][+-]?\d{3})/;

/**
 * Parses JSON that arrives from outside: bytes in UTF-8, which may begin with a byte order mark. The only parser
 * for requests and for files that hold them; see `parseJson` for what it keeps.
 * @throws SyntaxError, or TypeError for bytes that are not UTF-8. The message may quote the text
 */
export function readJson(bytes: Uint8Array): unknown {
  return parseJson(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
}

/**
 * Parses the bytes of a body, the same way for every kind of request; see `parseJson` for the numbers and texts that it
 * changes. An absent body is `{}`.
 * @throws AppError invalid_json unless it is an object or an array
 */
export function parseJsonBody(bytes: Uint8Array): object {
  if (bytes.length === 0) return {};
  let value: unknown;
  try {
    value = readJson(bytes);
  } catch {
    throw new AppError("invalid_json", { detail: NOT_JSON }); // the parser's message quotes the body
  }
  if (typeof value === "object" && value !== null) return value;
  const kind = value === null ? "null" : `a ${typeof value}`;
  throw new AppError("invalid_json", { detail: `The body must be a JSON object or array, not ${kind}.` });
}

/** The detail of the error about a body that cannot be parsed. */
export const NOT_JSON = "The body must be a valid JSON object or array.";

/**
 * Parses a JSON text. A number that JavaScript would change becomes a string of its digits: one beyond ±2^53, and one
 * that is too large or too small for a double, such as 1e400. Half a surrogate pair becomes U+FFFD, because strict
 * readers reject the whole text in which it is given out.
 * @throws SyntaxError
 */
export function parseJson(text: string): unknown {
  const wellFormed = replaceLoneSurrogates(text.toWellFormed());
  // A reviver takes half a second for a megabyte of numbers, and Node 20 does not pass it the digits.
  const value: unknown = JSON.parse(wellFormed);
  return HAS_UNSAFE_NUMBER.test(wellFormed) ? JSON.parse(quoteUnsafeNumbers(wellFormed)) : value;
}

/** Matches a pair of escaped surrogates, a lone one, or any other escape. */
const ESCAPE = /\\(?:u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|u[dD][89a-fA-F][\da-fA-F]{2}|.)/gs;

/** Replaces the escapes of lone surrogates in a JSON text by U+FFFD. */
export function replaceLoneSurrogates(text: string): string {
  if (!/\\u[dD][89a-fA-F]/.test(text)) return text;
  return text.replace(ESCAPE, (written) => (/^\\u[dD].{3}$/.test(written) ? "\\ufffd" : written));
}

/** Puts the numbers of a valid JSON text that JavaScript would change in quotation marks. */
function quoteUnsafeNumbers(text: string): string {
  let quoted = "";
  let copiedUpTo = 0;
  for (let found = nextMark(text, 0); found; found = nextMark(text, found.end)) {
    if (found.isText || !isChanged(found.mark)) continue;
    quoted += `${text.slice(copiedUpTo, found.end - found.mark.length)}"${found.mark}"`;
    copiedUpTo = found.end;
  }
  return quoted + text.slice(copiedUpTo);
}

/** Returns whether JavaScript would change a number by more than rounding its fraction. */
function isChanged(mark: string): boolean {
  const number = Number(mark);
  if (/^-?\d+(?:\.\d+)?$/.test(mark)) return !Number.isSafeInteger(Math.trunc(number));
  return !Number.isFinite(number) || (number === 0 && /^-?[0.]*[1-9]/.test(mark));
}

/** Returns the next string or number to check in valid JSON, and the index at which it ends; null when there is none. */
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
