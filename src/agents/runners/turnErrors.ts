import { AppError } from "../../shared/errors.ts";

/** Returns the error of a turn whose signal was aborted: the reason if it is an AppError, else `timeout`. */
export function abortError(signal: AbortSignal): AppError {
  return signal.reason instanceof AppError ? signal.reason : new AppError("timeout");
}

/** @param quote the model server's own sentence */
export function agentFailed(detail: string, quote?: string): AppError {
  return new AppError("agent_failed", { detail, quote });
}

/** Minimum length of a value that is masked. Shorter ones are no secrets, but parts of words. */
const MIN_SECRET_LENGTH = 8;

/** Returns a text for readers in which each of the values is replaced by "…". */
export const maskSecrets = (text: string, values: readonly string[]): string =>
  values
    .filter((value) => value.length >= MIN_SECRET_LENGTH)
    .reduce((masked, secret) => masked.replaceAll(secret, "…"), text);
