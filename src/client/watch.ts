import type { CallOptions } from "./api.ts";
import { backoffMs, sleep } from "./backoff.ts";
import type { ClientContext } from "./clientContext.ts";
import { filterQuery, pathSegment, toError } from "./connection.ts";
import { abortedOf, onAbort, TIMED_OUT } from "./deadline.ts";
import { SignalboxError } from "./error.ts";
import { type LimitSilence, readEvents } from "./events.ts";
import type { Delivery } from "./records/deliveries.ts";
import type { JobSummary, StepSummary } from "./records/jobs.ts";
import type { JobFilter } from "./records/options.ts";
import type { RunSummary, Usage } from "./records/runs.ts";

/** One change, sent when it happens. */
export type LiveEvent =
  /**
   * The first event of each connection. After `live: false` no events arrive until the next `live: true`: the service
   * has lost its event source or, with `reason: "disconnected"`, the client is reconnecting.
   */
  | { type: "state"; data: { live: boolean; reason?: "disconnected" } }
  /** Events were lost: read the state again. */
  | { type: "reload"; data: { reason: string } }
  | { type: "job"; data: JobSummary }
  /** The job was deleted or no longer matches the filter. */
  | { type: "job_removed"; data: { jobId: string } }
  /** Sent only to a watch of one job. */
  | { type: "step"; data: StepSummary }
  | { type: "run"; data: RunSummary }
  | { type: "delivery"; data: Delivery };

/** One event of a running run. */
export type RunEvent =
  /** An attempt begins: drop the text and the tools of an earlier one. */
  | { type: "run.started"; data: { attempt: number } }
  | { type: "message.delta"; data: { delta: string } }
  | { type: "tool.started"; data: { tool: string; preview: string | null } }
  | { type: "tool.completed"; data: { tool: string; ms: number | null; error: boolean } }
  | { type: "usage"; data: Usage }
  /** Lines that the program wrote to standard error. */
  | { type: "log"; data: { text: string } }
  | { type: "run.completed" | "run.failed"; data: RunSummary }
  /** You read too slowly, and events were lost. */
  | { type: "reload"; data: { reason: string } }
  /** The client is reconnecting. */
  | { type: "state"; data: { live: false; reason: "disconnected" } };

export type Topic = "jobs" | "runs" | "deliveries";

export interface WatchOptions {
  /** All topics by default. */
  readonly topics?: readonly Topic[] | undefined;
  /** Limits job events to the jobs that match. */
  readonly filter?: JobFilter | undefined;
  /** Watches only this job and its steps. */
  readonly job?: string | undefined;
  /** Ends the iteration. */
  readonly signal?: AbortSignal | undefined;
}

/** Maximum silence before a reconnect: three times the interval of the service's keep-alive comments. */
const SILENCE_MS = 45_000;
const RETRY_MS = 2_000;

/**
 * Yields live events. Reconnects after an error or a long silence and resumes after the last event. To show a current
 * state, wait for `live: true`, read the state over the API, then apply the events.
 * @throws SignalboxError when the service refuses the stream (unauthorized, job_not_found) or another server responds
 */
export function watch(
  context: ClientContext,
  { topics, filter = {}, job, signal }: WatchOptions = {},
  silenceMs = SILENCE_MS,
): AsyncGenerator<LiveEvent, void, undefined> {
  const path = job === undefined ? "/api/events" : `/api/jobs${pathSegment(job)}/events`;
  return follow<LiveEvent>(context, path, { query: { ...filterQuery(filter), topic: topics }, signal }, silenceMs);
}

/**
 * Yields what the agent of a run does, until the run has ended. Reconnects as `watch` does.
 * @throws SignalboxError when the service refuses the stream (unauthorized, run_not_found)
 */
export async function* watchRun(
  context: ClientContext,
  runId: string,
  { signal }: CallOptions = {},
): AsyncGenerator<RunEvent, void, undefined> {
  for await (const event of follow<RunEvent>(
    context,
    `/api/runs${pathSegment(runId)}/events`,
    { signal },
    SILENCE_MS,
  )) {
    yield event;
    if (event.type === "run.completed" || event.type === "run.failed") return;
  }
}

async function* follow<Event extends LiveEvent | RunEvent>(
  { connection, closed, onError }: ClientContext,
  path: string,
  { query, signal }: { readonly query?: object; readonly signal?: AbortSignal | undefined },
  silenceMs: number,
): AsyncGenerator<Event, void, undefined> {
  const signals = [signal, closed];
  let lastEventId: string | undefined;
  let retryMs = RETRY_MS;
  for (let tries = 0; !abortedOf(signals); tries++) {
    const open = new AbortController();
    const limitSilence = startSilence(silenceMs, open);
    const removers = signals.map((one) => onAbort(one, () => open.abort(one?.reason)));
    let failure: unknown;
    try {
      const headers = { Accept: "text/event-stream", "Last-Event-ID": lastEventId };
      const response = await connection.open("GET", path, { query, headers, signal: open.signal });
      if (!response.headers.get("Content-Type")?.includes("event-stream")) throw toError(response);
      for await (const { event, data, id, retry } of readEvents(
        response.body as ReadableStream<Uint8Array>,
        limitSilence,
      )) {
        tries = 0;
        retryMs = Number(retry) || retryMs;
        lastEventId = id ?? lastEventId;
        if (data !== undefined) yield { type: event, data: JSON.parse(data) } as Event;
      }
    } catch (error) {
      if (error instanceof SignalboxError && !abortedOf(signals)) {
        if (!error.isTransient) throw error;
        onError(error);
      }
      failure = error;
    } finally {
      limitSilence(false);
      for (const remove of removers) remove();
      open.abort();
    }
    if (tries === 0 && !abortedOf(signals))
      yield { type: "state", data: { live: false, reason: "disconnected" } } as Event;
    await sleep(backoffMs(tries, failure, retryMs), signals).catch(() => {}); // The loop's condition handles the abort.
  }
}

/** Aborts the stream when nothing arrives for a time. No timer is left while its reader is busy. */
function startSilence(ms: number, open: AbortController): LimitSilence {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const limit = (isAwaited: boolean) => {
    clearTimeout(timer);
    if (isAwaited) timer = setTimeout(() => open.abort(TIMED_OUT), ms);
  };
  limit(true);
  return limit;
}
