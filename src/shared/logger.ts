import { openSync, writeSync } from "node:fs";
import pino, { type Logger } from "pino";
import pretty from "pino-pretty";

export type { Logger };

/**
 * Returns the properties of an error that are logged. It leaves out everything else that libraries attach to their errors:
 * rejected documents, commands with passwords, bodies.
 */
export function serializeError(error: unknown): object {
  if (!(error instanceof Error)) return { type: typeof error };
  const { name, message, stack, cause } = error;
  const { code } = error as NodeJS.ErrnoException;
  return { type: name, message, code, stack, ...(cause !== undefined && { cause: serializeError(cause) }) };
}

/** Characters that JSON does not escape and that some programs take for a line end or a control sequence. */
const CONTROLS = /[\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g;

/** A JSON escape. The group matches those of control characters except tab and line feed, and those of CONTROLS. */
const ESCAPES = /\\(?:(u00[01][\da-f]|u007f|u00[89][\da-f]|u202[89a-e]|u206[6-9]|[bfr])|.)/g;

/** Escapes whatever a reader could take for a line end in a line of JSON. */
const asOneLine = (line: string): string =>
  line.replace(CONTROLS, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);

/** Replaces whatever a terminal could obey in a line of JSON. */
const forTerminal = (line: string): string =>
  line.replace(ESCAPES, (found, isControl) => (isControl ? "\ufffd" : found)).replace(CONTROLS, "\ufffd");

/** Returns what a terminal shows of a logged object: for a request one short text in place of its fields. */
function forReader(line: Record<string, unknown>): Record<string, unknown> {
  const { reqId, method, path, status, code, ms, held, ...rest } = line;
  if (typeof ms !== "number" || !method || !status) return line;
  return { ...rest, request: [method, path, status, code, `${ms} ms`].filter(Boolean).join(" ") };
}

const format = pretty.prettyFactory({
  ignore: "pid,process,request,nextTryAt",
  translateTime: "SYS:HH:MM:ss.l",
  messageFormat: (line) => `${line.process}: ${line.request ?? line.msg}`,
  singleLine: true,
});

/** Returns a logged line of JSON as a terminal shows it, with its line end. */
export const readableLine = (line: string): string => format(forReader(JSON.parse(forTerminal(line)))) ?? "";

/** A request that took at least as long is shown on the terminal of a service. */
const SLOW_MS = 1_000;

/**
 * Returns whether a line is left to the log file, so that the address and the token stay on the terminal: a request that was
 * neither slow nor refused, or a queue job that is done.
 */
function isRoutine(line: string): boolean {
  const { level, method, status, ms, held, outcome } = JSON.parse(line) as Record<string, unknown>;
  if (level !== pino.levels.values.info) return false;
  if (outcome === "done") return true;
  return method !== undefined && Number(status) < 400 && (held === true || Number(ms) < SLOW_MS);
}

/** The variable in which `signalbox start` passes its processes the file that they append their log to. */
export const LOG_FILE = "SIGNALBOX_LOG_FILE";

/**
 * Returns a function that appends to a file. A full disk loses lines and does not end the process; pino's own destination
 * would wait for room when the process exits.
 */
function appender(file: string): (line: string) => void {
  const descriptor = openSync(file, "a", 0o600);
  return (line) => {
    try {
      writeSync(descriptor, line);
    } catch {
      // standard output has the line too
    }
  };
}

interface LoggerOptions {
  readonly level: string;
  readonly name: string;
  /** Whether to write readable lines for a terminal in place of JSON; with a file only those of interest. */
  readonly pretty: boolean;
  /** A file to which JSON lines are appended too. Several processes may append to the same file. */
  readonly file?: string | undefined;
}

/**
 * Creates a logger that writes JSON lines to standard output, or readable lines when `pretty` (a terminal). Callers must not
 * log secrets or bodies; the redaction below is only a safety net. Logged names, paths and headers come from clients, so
 * they can neither begin a new line nor control a terminal.
 */
export function createLogger(options: LoggerOptions): Logger {
  const settings = {
    level: options.level,
    base: { process: options.name, pid: process.pid },
    timestamp: pino.stdTimeFunctions.isoTime,
    redact: ["authorization", "token", "*.authorization", "*.token"],
    serializers: { err: serializeError },
    hooks: { streamWrite: asOneLine },
  };
  const output = pino.destination({ dest: 1, sync: true });
  const append = options.file === undefined ? undefined : appender(options.file);
  if (!options.pretty && !append) return pino(settings, output);
  return pino(settings, {
    write(line) {
      append?.(line);
      if (!options.pretty) output.write(line);
      else if (!append || !isRoutine(line)) output.write(readableLine(line));
    },
  });
}
