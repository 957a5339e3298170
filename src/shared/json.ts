import { AppError } from "./errors.ts";

/**
 * A value that came as JSON as its text again.
 * @throws AppError invalid_body for one nested some thousand levels deep: it can be read but not be written
 */
export function toJson(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw tooDeep();
  }
}

/** A quotation mark, or a whole number that may be beyond ±2^53. */
const MARK_OR_NUMBER = /"|(?<![\d.eE+-])-?[1-9]\d{15,}(?![\d.eE])/g;

/**
 * The value of a JSON text, in which a whole number that would be rounded (beyond ±2^53) is the text of its digits. Not by a
 * reviver: that takes half a second for a megabyte of numbers, and Node 20 does not tell it the digits.
 * @throws SyntaxError
 */
export function parseJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  if (!/(?:^|[[:,\s])-?[1-9]\d{15}/.test(text)) return value;
  let kept = "";
  let keptUpTo = 0;
  for (let found = nextMark(text, 0); found; found = nextMark(text, found.end)) {
    if (found.isText || Number.isSafeInteger(Number(found.mark))) continue;
    kept += `${text.slice(keptUpTo, found.end - found.mark.length)}"${found.mark}"`;
    keptUpTo = found.end;
  }
  return kept === "" ? value : JSON.parse(kept + text.slice(keptUpTo));
}

/** The next text or long number of what is known to be JSON. `end`: where it is over. */
function nextMark(text: string, from: number): { mark: string; isText: boolean; end: number } | null {
  MARK_OR_NUMBER.lastIndex = from;
  const [mark] = MARK_OR_NUMBER.exec(text) ?? [];
  if (mark === undefined) return null;
  let end = MARK_OR_NUMBER.lastIndex;
  if (mark !== '"') return { mark, isText: false, end };
  while (text[end] !== '"') end += text[end] === "\\" ? 2 : 1;
  return { mark, isText: true, end: end + 1 };
}

/** Anybody's JSON has fewer. How many a thread can be handed rests on its stack, and is above a thousand. */
const MAX_LEVELS = 500;

/** @throws AppError invalid_body for a value that came as JSON and is nested more than 500 levels deep */
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
  const detail = "is nested too deeply: some hundred levels are plenty";
  return new AppError("invalid_body", { detail: `The body ${detail}.`, errors: [{ pointer: "", detail }] });
}

/** Whether a value is what a JSON object is read as. */
export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
