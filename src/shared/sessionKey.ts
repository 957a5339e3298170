import { randomUUID } from "node:crypto";

/** The session that people talk to: its events are what the agent is woken for. Hooks reach it by wake alone. */
export const MAIN_SESSION = "main";

/** The key of a session that is for one run alone. */
export const randomSessionKey = (): string => `hook:${randomUUID()}`;

/** What is wrong with a key that a run's session is to have, to be read after its name; null when nothing is. */
export function sessionKeyFault(key: string, prefixes: readonly string[] | undefined): string | null {
  if (key === MAIN_SESSION) return `must not be ${MAIN_SESSION}: send a wake hook to the main session`;
  if (prefixes && !prefixes.some((prefix) => key.startsWith(prefix))) {
    return `must begin with one of the allowed prefixes (${prefixes.join(", ")})`;
  }
  return null;
}
