import { withTimeout } from "../timeouts.ts";

/*
 * A web process that `signalbox start` runs also serves the metrics of the worker beside it. Both processes only have a
 * channel to their parent, which passes the messages on:
 *
 *   parent → web    OFFER, once: from now on the parent answers requests
 *   web → parent → worker    REQUEST
 *   worker → parent → web    WorkerMetricsReply
 */

export const OFFER = "signalbox:worker-metrics-offer";
const REQUEST = "signalbox:worker-metrics-request";

interface WorkerMetricsReply {
  /** Metrics in Prometheus' text format; empty while the worker does not respond. */
  readonly workerMetrics: string;
}

/** The part of a process, or of a child process, that exchanges messages. */
export interface Peer {
  readonly connected?: boolean;
  send?(message: unknown, callback: (error: Error | null) => void): unknown;
  on(event: "message", listener: (message: unknown) => void): unknown;
  off(event: "message", listener: (message: unknown) => void): unknown;
}

/** Sends a message unless the channel is closed. A failure is ignored: the receiver is gone. */
export function sendTo(peer: Peer, message: unknown): void {
  if (peer.connected) peer.send?.(message, () => {});
}

/** Requests the worker's metrics from a peer. Returns an empty text when no reply arrives in time. */
export async function requestWorkerMetrics(peer: Peer, timeoutMs: number): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const listener = (message: unknown) => {
    const { workerMetrics } = (message ?? {}) as Partial<WorkerMetricsReply>;
    if (workerMetrics !== undefined) resolve(workerMetrics);
  };
  peer.on("message", listener);
  sendTo(peer, REQUEST);
  try {
    return await withTimeout(promise, timeoutMs).catch(() => "");
  } finally {
    peer.off("message", listener);
  }
}

/**
 * Answers a peer's requests for the worker's metrics.
 * @returns a function that stops answering
 */
export function answerMetricsRequests(peer: Peer, read: () => Promise<string>): () => void {
  const listener = async (message: unknown) => {
    if (message !== REQUEST) return;
    const workerMetrics = await read().catch(() => "");
    sendTo(peer, { workerMetrics } satisfies WorkerMetricsReply);
  };
  peer.on("message", listener);
  return () => void peer.off("message", listener);
}
