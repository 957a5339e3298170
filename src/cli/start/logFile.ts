import { copyFileSync, rmSync, statSync, truncateSync } from "node:fs";
import { join } from "node:path";

/** Maximum bytes of the log: some 50,000 lines. As much again is kept of the lines before. */
const MAX_BYTES = 10 * 1_048_576;
const CHECK_EVERY_MS = 1_000;

/** The file to which all processes of an instance append their log. */
export const logFile = (dataDir: string): string => join(dataDir, "service.log");

/** The file with the lines before those in the log. */
export const olderLogFile = (dataDir: string): string => join(dataDir, "service.old.log");

/** Limits the size of the log until the returned function is called. */
export function limitLog(dataDir: string): () => Promise<void> {
  const timer = setInterval(() => shortenLog(dataDir, MAX_BYTES), CHECK_EVERY_MS);
  timer.unref();
  return async () => clearInterval(timer);
}

/**
 * Moves the lines of a log above the limit to the older file, and empties the log. The processes that append to it have it
 * open, so it is not renamed. A line that is written in between is lost.
 */
export function shortenLog(dataDir: string, maxBytes: number): void {
  const log = logFile(dataDir);
  if (sizeOf(log) <= maxBytes) return;
  try {
    copyFileSync(log, olderLogFile(dataDir));
  } catch {
    rmSync(olderLogFile(dataDir), { force: true }); // the disk is full
  }
  truncateSync(log);
}

/** Returns the size of a file in bytes; 0 if it is missing. */
export const sizeOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0;
