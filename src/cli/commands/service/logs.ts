import { closeSync, existsSync, openSync, readSync } from "node:fs";
import { resolve } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { Option } from "commander";
import { readConfig } from "../../../config/load.ts";
import { readableLine } from "../../../shared/logger.ts";
import { StartError } from "../../../shared/process/lifecycle.ts";
import { wholeNumber } from "../../arguments.ts";
import { type Define, withExamples } from "../../command.ts";
import { findRunningInstance } from "../../start/dataDirectoryLock.ts";
import { logFile, olderLogFile, sizeOf } from "../../start/logFile.ts";
import { untilInterrupted } from "../../terminal/interrupt.ts";
import { printNote } from "../list.ts";

interface LogsOptions {
  readonly follow?: boolean;
  /** Maximum number of lines that are already in the log. */
  readonly lines: number;
  readonly level?: string;
  readonly json?: boolean;
}

/** Interval of looking for new lines. */
const POLL_MS = 200;

/** The levels of pino, as numbers in the log. */
const SEVERITY: Readonly<Record<string, number>> = { trace: 10, debug: 20, info: 30, warn: 40, error: 50, fatal: 60 };

/**
 * `logs`: prints the last lines of the log in the configured data directory, and with `follow` the new ones until it is
 * interrupted.
 */
export const logs: Define = (command, environment) =>
  withExamples(
    command
      .option("-f, --follow", "keep printing new lines until Ctrl-C")
      .option("-n, --lines <n>", "maximum number of lines", wholeNumber(0, 1_000_000), 100)
      .addOption(
        new Option("--level <level>", "only lines of this level or a more severe one").choices(Object.keys(SEVERITY)),
      )
      .option("--json", "print lines of JSON, as without a terminal"),
    "signalbox logs --follow",
    "signalbox logs --level warn --lines 20",
  ).action(async ({ follow, lines, level, json }: LogsOptions) => {
    const dataDir = resolve(readConfig(await environment()).dataDir);
    const log = logFile(dataDir);
    if (!existsSync(log)) {
      throw new StartError(
        `There is no log in ${dataDir}: set SIGNALBOX_DATA_DIR to the data directory of an instance with an embedded server. Other processes write their log to standard output only.`,
      );
    }
    if (!findRunningInstance(dataDir)) printNote(`No instance runs in ${dataDir} now.`);
    const least = SEVERITY[level ?? "trace"] ?? 0;
    const print = (texts: readonly string[]) => printLines(texts, json !== true && process.stdout.isTTY);
    const wanted = (texts: readonly string[]) => texts.filter((text) => severityOf(text) >= least);
    const reader = new LogReader(dataDir);
    const present = wanted(reader.readAll());
    print(present.slice(Math.max(0, present.length - lines)));
    if (!follow) return;
    await untilInterrupted(async (signal) => {
      for (;;) {
        await pause(POLL_MS, undefined, { signal });
        print(wanted(reader.readNew()));
      }
    });
  });

function printLines(texts: readonly string[], readable: boolean): void {
  if (texts.length === 0) return;
  process.stdout.write(texts.map((text) => (readable ? readableLine(text) : `${text}\n`)).join(""));
}

/** Returns the level of a line; -1 for a line that a crash of the system truncated. */
function severityOf(line: string): number {
  try {
    return (JSON.parse(line) as { level: number }).level;
  } catch {
    return -1;
  }
}

/** Reads a log by whole lines, also when it is shortened in between. */
class LogReader {
  readonly #log: string;
  readonly #older: string;
  /** Number of bytes of the log that have been read. */
  #offset = 0;
  /** The beginning of a line whose end has not been read. */
  #rest = Buffer.alloc(0);

  constructor(dataDir: string) {
    this.#log = logFile(dataDir);
    this.#older = olderLogFile(dataDir);
  }

  /** Returns all lines, those of the older file first. */
  readAll(): string[] {
    const older = this.#split(readFrom(this.#older, 0));
    this.#rest = Buffer.alloc(0);
    return [...older, ...this.readNew()];
  }

  /** Returns the lines since the last read. */
  readNew(): string[] {
    // The log was emptied, and the older file contains everything that was in it.
    const wasEmptied = sizeOf(this.#log) < this.#offset;
    const missed = wasEmptied ? this.#split(readFrom(this.#older, this.#offset)) : [];
    if (wasEmptied) this.#offset = 0;
    const chunk = readFrom(this.#log, this.#offset);
    this.#offset += chunk.length;
    return [...missed, ...this.#split(chunk)];
  }

  #split(chunk: Buffer): string[] {
    const all = Buffer.concat([this.#rest, chunk]);
    const end = all.lastIndexOf("\n") + 1;
    this.#rest = all.subarray(end);
    return all.toString("utf8", 0, end).split("\n").filter(Boolean);
  }
}

/** Returns the bytes of a file from an offset on; none if it is missing. */
function readFrom(file: string, offset: number): Buffer {
  const length = sizeOf(file) - offset;
  if (length <= 0) return Buffer.alloc(0);
  const descriptor = openSync(file, "r");
  try {
    const bytes = Buffer.alloc(length);
    return bytes.subarray(0, readSync(descriptor, bytes, 0, length, offset));
  } finally {
    closeSync(descriptor);
  }
}
