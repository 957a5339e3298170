import pino, { type Logger } from "pino";
import pretty from "pino-pretty";

export type { Logger };

/**
 * JSON lines on standard output; readable ones when `pretty` (a terminal). Nothing that holds a secret or a body is
 * ever handed to a logger; the redaction below is the net under that rule.
 */
export function createLogger(options: { level: string; name: string; pretty: boolean }): Logger {
  const settings = {
    level: options.level,
    base: { process: options.name, pid: process.pid },
    timestamp: pino.stdTimeFunctions.isoTime,
    redact: ["authorization", "token", "*.authorization", "*.token", "err.body", "err.config"],
  };
  if (!options.pretty) return pino(settings);
  return pino(
    settings,
    pretty({ ignore: "pid", translateTime: "SYS:HH:MM:ss.l", messageFormat: "{process}: {msg}", sync: true }),
  );
}
