import pino, { type Logger } from "pino";

/** Returns a logger at level `trace` and its output, one object per line. */
export function logLines(): { log: Logger; lines: Record<string, unknown>[] } {
  const lines: Record<string, unknown>[] = [];
  return { log: pino({ level: "trace" }, { write: (line: string) => void lines.push(JSON.parse(line)) }), lines };
}
