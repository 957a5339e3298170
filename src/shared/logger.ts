import pino, { type Logger } from "pino";
import pretty from "pino-pretty";

export type { Logger };

/**
 * What is told of an error. Nothing else that libraries hang on theirs: documents that were refused, commands with
 * passwords, bodies.
 */
export function serializeError(error: unknown): object {
  if (!(error instanceof Error)) return { type: typeof error };
  const { name, message, stack, cause } = error;
  const { code } = error as NodeJS.ErrnoException;
  return { type: name, message, code, stack, ...(cause !== undefined && { cause: serializeError(cause) }) };
}

/** What some take for the end of a line, or obey, and JSON leaves as it is. */
const OBEYED = /[\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g;

/** What JSON writes of a control character, but for tab and line feed; or any other of its escapes, to pass over it. */
const ESCAPED = /\\(?:(u00[01][\da-f]|[bfr])|.)/g;

/** A line of JSON that nobody takes for two. */
const asOneLine = (line: string): string =>
  line.replace(OBEYED, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);

/** A line of JSON whose texts a terminal can be given. */
const forTerminal = (line: string): string =>
  line.replace(ESCAPED, (found, isControl) => (isControl ? "\ufffd" : found)).replace(OBEYED, "\ufffd");

/**
 * JSON lines on standard output; readable ones when `pretty` (a terminal). Nothing that holds a secret or a body is
 * ever handed to a logger; the redaction below is the net under that rule. Names, paths and headers are others' words: none
 * of them begins a line of its own, nor is obeyed by a terminal.
 */
export function createLogger(options: { level: string; name: string; pretty: boolean }): Logger {
  const settings = {
    level: options.level,
    base: { process: options.name, pid: process.pid },
    timestamp: pino.stdTimeFunctions.isoTime,
    redact: ["authorization", "token", "*.authorization", "*.token"],
    serializers: { err: serializeError },
    hooks: { streamWrite: options.pretty ? forTerminal : asOneLine },
  };
  if (!options.pretty) return pino(settings);
  return pino(
    settings,
    pretty({ ignore: "pid", translateTime: "SYS:HH:MM:ss.l", messageFormat: "{process}: {msg}", sync: true }),
  );
}
