import { appendFileSync, chmodSync, readFileSync, renameSync, statSync } from "node:fs";

const LARGE_BYTES = 10 * 1024 * 1024;

/**
 * Prepares the log file of a server. A large file is renamed to `….1` and replaces the one that was renamed before. Only
 * this user can read the file to which the server then writes.
 */
export function prepareLog(path: string): void {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  if (size > LARGE_BYTES) renameSync(path, `${path}.1`);
  appendFileSync(path, "", { mode: 0o600 });
  chmodSync(path, 0o600); // an existing file keeps its mode when it is written
}

/** Returns the text of a log file from the byte `from` on. */
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
