import pino, { type Logger } from "pino";

/** A logger of everything, and what it was told: one object a line. */
export function logLines(): { log: Logger; lines: Record<string, unknown>[] } {
  const lines: Record<string, unknown>[] = [];
  return { log: pino({ level: "trace" }, { write: (line: string) => void lines.push(JSON.parse(line)) }), lines };
}
