import { readFileSync, renameSync, statSync } from "node:fs";

const LARGE_BYTES = 10 * 1024 * 1024;

/** Puts a log that has grown large aside, in place of the one that was put aside before. */
export function rotateLog(path: string): void {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  if (size > LARGE_BYTES) renameSync(path, `${path}.1`);
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
