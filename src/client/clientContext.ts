import type { Connection } from "./connection.ts";

/** The state that all parts of one client share. */
export interface ClientContext {
  readonly connection: Connection;
  /** Aborted when the client is closed. */
  readonly closed: AbortSignal;
  readonly retryForMs: number;
  /** Receives the errors of retried requests, and of rejected reports that nobody waited for. */
  readonly onError: (error: unknown) => void;
  /** The queues that have reports to send. */
  readonly pending: Set<PendingReports>;
}

interface PendingReports {
  /** Sends all reports now. */
  flush(signal: AbortSignal): Promise<void>;
  /** Rejects all queued reports with the reason. */
  reject(reason: unknown): void;
}
