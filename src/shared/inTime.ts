import { setTimeout as pause } from "node:timers/promises";

/** A server that hangs holds nobody up. Rejects when there is no answer in time; what comes later is let pass. */
export async function inTime<T>(answer: Promise<T>, withinMs: number, who = "Redis"): Promise<T> {
  const answered = new AbortController();
  const late = pause(withinMs, undefined, { signal: answered.signal }).then(() => {
    throw new Error(`${who} does not answer`);
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    answered.abort();
  }
}
