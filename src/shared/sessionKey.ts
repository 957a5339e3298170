import { randomUUID } from "node:crypto";

/** The session that people talk to. Its events wake the agent. Hooks can only wake it. */
export const MAIN_SESSION = "main";

/** The prefix of the session keys of the preset gmail. No other hook may use it. */
export const GMAIL_SESSIONS = "hook:gmail:";

/** The mapping key of that preset in its runs. */
export const GMAIL_PRESET = "preset:gmail";

/** Creates the key of a single-use session. */
export const randomSessionKey = (): string => `hook:${randomUUID()}`;

/** Matches the keys that `randomSessionKey` creates. */
const SINGLE_USE = /^hook:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/**
 * Checks a key that a request, a mapping or a transform names for the session of a run.
 * @param mapping the key of the mapping that names it; undefined for a request
 * @returns the fault, to follow the field's name; null for a valid key
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
