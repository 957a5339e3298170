import pino, { type Logger } from "pino";
import pretty from "pino-pretty";

export type { Logger };

/**
 * What is told of an error. Nothing else that libraries hang on theirs: documents that were refused, commands with
 * passwords, bodies.
 */
export function plainError(error: unknown): object {
  if (!(error instanceof Error)) return { type: typeof error };
  const { name, message, stack, cause } = error;
  const { code } = error as NodeJS.ErrnoException;
  return { type: name, message, code, stack, ...(cause !== undefined && { cause: plainError(cause) }) };
}

/**
 * JSON lines on standard output; readable ones when `pretty` (a terminal). Nothing that holds a secret or a body is
 * ever handed to a logger; the redaction below is the net under that rule.
 */
export function createLogger(options: { level: string; name: string; pretty: boolean }): Logger {
  const settings = {
    level: options.level,
    base: { process: options.name, pid: process.pid },
    timestamp: pino.stdTimeFunctions.isoTime,
    redact: ["authorization", "token", "*.authorization", "*.token"],
    serializers: { err: plainError },
  };
  if (!options.pretty) return pino(settings);
  return pino(
    settings,
    pretty({ ignore: "pid", translateTime: "SYS:HH:MM:ss.l", messageFormat: "{process}: {msg}", sync: true }),
  );
}
