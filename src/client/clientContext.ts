import type { Connection } from "./connection.ts";

/** What all parts of one client share. */
export interface ClientContext {
  readonly connection: Connection;
  /** Fires when the client is closed. */
  readonly closed: AbortSignal;
  readonly retryForMs: number;
  /** Hears of tries in vain, and of reports that were refused, or given up, while nobody waited for them. */
  readonly onError: (error: unknown) => void;
  /** Those that have something to send. */
  readonly pending: Set<PendingReports>;
}

interface PendingReports {
  /** Sends it now. */
  flush(signal: AbortSignal): Promise<void>;
  /** Gives it up. */
  end(reason: unknown): void;
}
