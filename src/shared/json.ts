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

/**
 * The value of a JSON text, in which a whole number that would be rounded (beyond ±2^53) is the text of its digits; on Node
 * 20, which does not show them, it is rounded.
 * @throws SyntaxError; AppError invalid_body for one nested some thousand levels deep that has such a number
 */
export function parseJson(text: string): unknown {
  if (!/[[:,\s]-?\d{16}/.test(text)) return JSON.parse(text); // a reviver takes many times as long
  try {
    return JSON.parse(text, keepDigits);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw tooDeep();
  }
}

function keepDigits(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  const digits = typeof value === "number" && !Number.isSafeInteger(value) ? context?.source : undefined;
  return digits !== undefined && /^-?\d+$/.test(digits) ? digits : value;
}

/** Anybody's JSON has fewer. How many a thread can be handed rests on its stack, and is above a thousand. */
const MAX_LEVELS = 500;

/** @throws AppError invalid_body for a value that came as JSON and is nested more than 500 levels deep */
export function checkLevels(value: unknown): void {
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
