import { randomUUID } from "node:crypto";

/** The session that people talk to: its events are what the agent is woken for. Hooks reach it by wake alone. */
export const MAIN_SESSION = "main";

/** Session keys of the preset gmail begin with this. No other hook may name one. */
export const GMAIL_SESSIONS = "hook:gmail:";

/** The preset that makes them, as its runs name it. */
export const GMAIL_PRESET = "preset:gmail";

/** Creates the key of a session that is for one run alone. */
export const randomSessionKey = (): string => `hook:${randomUUID()}`;

/** Keys that the service makes for one run alone. */
export const SINGLE_USE = /^hook:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/**
 * Checks a key that a request, a mapping or a transform names for the session of a run.
 * @param mapping the key of the mapping that names it; undefined for a request
 * @returns what is wrong, to be read after the field's name; null when nothing is
 */
export function sessionKeyFault(key: string, prefixes: readonly string[] | undefined, mapping?: string): string | null {
  if (key === MAIN_SESSION) return `must not be ${MAIN_SESSION}: send a wake hook to the main session`;
  if (SINGLE_USE.test(key)) return "must not be a key that the service makes (hook:<uuid>): choose one of your own";
  if (key.startsWith(GMAIL_SESSIONS) && mapping !== GMAIL_PRESET) {
    return `must not begin with ${GMAIL_SESSIONS}, which is for the preset gmail: choose another one`;
  }
  if (prefixes && !prefixes.some((prefix) => key.startsWith(prefix))) {
    return `must begin with one of the allowed prefixes (${prefixes.join(", ")})`;
  }
  return null;
}
