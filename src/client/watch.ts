import { filterQuery } from "./api.ts";
import { backoffMs, sleep } from "./backoff.ts";
import type { ClientContext } from "./clientContext.ts";
import { segment, toError } from "./connection.ts";
import { abortedOf, startDeadline } from "./deadline.ts";
import { SignalboxError } from "./error.ts";
import { readEvents } from "./events.ts";
import type { Delivery, JobFilter, JobSummary, RunSummary, StepSummary } from "./records.ts";

/** What happens, as it happens. */
export type LiveEvent =
  /**
   * The first of each connection. `live: false`: nothing comes until the next `live: true`, because the service has lost its
   * source or, with `reason: "disconnected"`, because the connection has ended and is being made anew.
   */
  | { type: "state"; data: { live: boolean; reason?: "disconnected" } }
  /** What you hold may be out of date: read it again. */
  | { type: "reload"; data: { reason: string } }
  | { type: "job"; data: JobSummary }
  /** Deleted, or no longer among those that the filter fits. */
  | { type: "job_removed"; data: { jobId: string } }
  /** Only where one job is watched. */
  | { type: "step"; data: StepSummary }
  | { type: "run"; data: RunSummary }
  | { type: "delivery"; data: Delivery };

export type Topic = "jobs" | "runs" | "deliveries";

export interface WatchOptions {
  /** All of them by default. */
  readonly topics?: readonly Topic[] | undefined;
  /** Which jobs. */
  readonly filter?: JobFilter | undefined;
  /** Only this job, and its steps. */
  readonly job?: string | undefined;
  /** Ends the iteration. */
  readonly signal?: AbortSignal | undefined;
}

/** The service says something, be it nothing, every 15 s. */
const SILENCE_MS = 45_000;
const RETRY_MS = 2_000;

/**
 * Live events, over any number of connections: one that breaks, or is silent for too long, is made again, and goes on
 * where it stopped. Open it, wait for `live: true`, read what you show over the API, then apply the events.
 * @throws SignalboxError when the stream is refused (unauthorized, job_not_found), or comes from something else
 */
export async function* watch(
  { connection, closed, onError }: ClientContext,
  { topics, filter = {}, job, signal }: WatchOptions,
  silenceMs = SILENCE_MS,
): AsyncGenerator<LiveEvent, void, undefined> {
  const path = job === undefined ? "/api/events" : `/api/jobs${segment(job)}/events`;
  const query = { ...filterQuery(filter), topic: topics };
  const signals = [signal, closed];
  let lastEventId: string | undefined;
  let retryMs = RETRY_MS;
  for (let tries = 0; !abortedOf(signals); tries++) {
    const deadline = startDeadline(silenceMs, signals);
    let failure: unknown;
    try {
      const headers = { Accept: "text/event-stream", "Last-Event-ID": lastEventId };
      const response = await connection.open("GET", path, { query, headers, signal: deadline.signal });
      if (!response.headers.get("Content-Type")?.includes("event-stream")) throw toError(response);
      for await (const { event, data, id, retry } of readEvents(
        response.body as ReadableStream<Uint8Array>,
        deadline,
      )) {
        tries = 0;
        retryMs = Number(retry) || retryMs;
        lastEventId = id ?? lastEventId;
        if (data !== undefined) yield { type: event, data: JSON.parse(data) } as LiveEvent;
      }
    } catch (error) {
      if (error instanceof SignalboxError && !abortedOf(signals)) {
        if (!error.isTransient) throw error;
        onError(error);
      }
      failure = error;
    } finally {
      deadline.end();
    }
    if (tries === 0 && !abortedOf(signals)) yield { type: "state", data: { live: false, reason: "disconnected" } };
    await sleep(backoffMs(tries, failure, retryMs), signals).catch(() => {}); // the loop looks
  }
}
