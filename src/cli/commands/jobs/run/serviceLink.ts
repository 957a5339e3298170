import { TRACEPARENT } from "../../../../shared/traceContext.ts";

/** A request without an answer for this long counts as a service that cannot be reached. */
const OVERDUE_MS = 5_000;

/** Watches whether the service answers. */
export interface ServiceLink {
  /** Sends the requests of clients. */
  readonly fetch: typeof globalThis.fetch;
  /** Returns since how long the service has not answered; undefined if it answers, or was not asked yet. */
  awayMs(): number | undefined;
  /** Calls the listener when the service stops answering, and now if it does not answer. */
  onAway(listener: () => void): void;
}

/** @param traceparent the trace that this process is a part of, which requests state */
export function watchLink(traceparent?: string): ServiceLink {
  let awaySince: number | undefined;
  let listener = () => {};
  const isAway = (since: number) => {
    if (awaySince !== undefined) return;
    awaySince = since;
    listener();
  };
  return {
    async fetch(address, init) {
      const sentAt = performance.now();
      const overdue = setTimeout(isAway, OVERDUE_MS, sentAt).unref();
      try {
        const headers = new Headers(init?.headers);
        if (traceparent !== undefined) headers.set(TRACEPARENT, traceparent);
        const response = await globalThis.fetch(address, { ...init, headers });
        awaySince = undefined;
        return response;
      } catch (error) {
        isAway(sentAt);
        throw error;
      } finally {
        clearTimeout(overdue);
      }
    },
    awayMs: () => (awaySince === undefined ? undefined : performance.now() - awaySince),
    onAway(next) {
      listener = next;
      if (awaySince !== undefined) listener();
    },
  };
}
