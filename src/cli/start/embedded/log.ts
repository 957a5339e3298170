import { appendFileSync, chmodSync, readFileSync, renameSync, statSync } from "node:fs";

const LARGE_BYTES = 10 * 1024 * 1024;

/**
 * Prepares the log of a server: one that has grown large is put aside, in place of the one that was put aside before, and
 * nobody but this user can read the one that the server then writes to.
 */
export function prepareLog(path: string): void {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  if (size > LARGE_BYTES) renameSync(path, `${path}.1`);
  appendFileSync(path, "", { mode: 0o600 });
  chmodSync(path, 0o600); // of an earlier version
}

/** What a log has got since it was `from` bytes long. */
export function logSince(path: string, from: number): string {
  try {
    return readFileSync(path).subarray(from).toString();
  } catch {
    return ""; // the server ended before it wrote a line
  }
}

export function logSize(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
