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
    throw new AppError("invalid_body", { detail: "The body is nested too deeply: some hundred levels are plenty." });
  }
}
