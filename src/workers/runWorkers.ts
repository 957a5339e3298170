import { Ajv } from "ajv";
import { type Job, Worker } from "bullmq";
import type { Clock } from "../shared/clock.ts";
import { AppError } from "../shared/errors.ts";
import type { Logger } from "../shared/logger.ts";
import { QUEUES, type QueueDef, queuePrefix } from "../shared/queue/definitions.ts";
import type { RedisConnection } from "../shared/queue/redis.ts";
import { withDeadline, withTimeout } from "../shared/timeouts.ts";
import type { Timings } from "../shared/timings.ts";
import { outcomeOfThrown, type ProcessorOutcome, toBullMq } from "./outcome.ts";

/** The arguments of every processor besides its own deps. The signal aborts on time-out and when the process stops. */
export interface RunContext {
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly log: Logger;
  readonly timings: Timings;
}

/** Processes one job of a queue. It may run twice for one job. `lastTry` is true when the queue will not retry the job. */
export type Processor = (
  job: { readonly id: string; readonly payload: unknown; readonly lastTry: boolean },
  context: RunContext,
) => Promise<ProcessorOutcome>;

export interface RunOptions {
  readonly connection: RedisConnection;
  readonly prefix: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly timings: Timings;
  /** Maximum concurrent jobs of each queue in this process (default 1). */
  readonly concurrency?: Readonly<Record<string, number>>;
}

const ajv = new Ajv();

/** How long a closing worker without active jobs waits for Redis. */
const REDIS_CLOSE_TIMEOUT_MS = 2_000;

/**
 * Starts a BullMQ worker for every queue that has a processor. Only the optional queues need none.
 *
 * `close` starts no more jobs from that call on and waits for the active ones, whose signal aborts after `graceMs`; without
 * `graceMs` they may take as long as they need. A later call with `graceMs` still sets that limit.
 * @throws Error when a queue that is not optional has no processor
 */
export function runWorkers(
  processors: ReadonlyMap<QueueDef, Processor>,
  options: RunOptions,
): { close(graceMs?: number): Promise<void> } {
  const unserved = QUEUES.find((queue) => !queue.optional && !processors.has(queue));
  if (unserved) throw new Error(`the queue ${unserved.name} has no processor`);
  const stop = new AbortController();
  const workers = [...processors].map(([queue, processor]) => startWorker(queue, processor, options, stop.signal));
  return {
    async close(graceMs) {
      const reason = new AppError("unavailable", { detail: "The worker is stopping." });
      const timer = graceMs === undefined ? undefined : setTimeout(() => stop.abort(reason), graceMs);
      await Promise.all(workers.map((close) => close()));
      clearTimeout(timer);
    },
  };
}

/** Returns a function that stops the worker and waits for its active jobs. */
function startWorker(
  queue: QueueDef,
  processor: Processor,
  options: RunOptions,
  stopping: AbortSignal,
): () => Promise<void> {
  const { connection, clock, timings } = options;
  const concurrency = options.concurrency?.[queue.name] ?? 1;
  const log = options.log.child({ queue: queue.name });
  const isPayload = ajv.compile(queue.payload);
  const active = new Set<Promise<unknown>>();
  let isClosing = false;
  const processJob = async (signal: AbortSignal, job: Job, token?: string): Promise<unknown> => {
    const started = performance.now();
    const given = { id: String(job.id), payload: job.data, lastTry: job.attemptsMade + 1 >= (job.opts.attempts ?? 1) };
    const outcome: ProcessorOutcome = isPayload(job.data)
      ? await processor(given, { signal, clock, log, timings }).catch(outcomeOfThrown)
      : {
          kind: "discard",
          error: new AppError("internal", {
            detail: `The payload does not match its schema: ${ajv.errorsText(isPayload.errors)}`,
          }),
        };
    const line = { job: job.id, outcome: outcome.kind, ms: Math.round(performance.now() - started) };
    if (outcome.kind === "done")
      log[outcome.isIdle ? "debug" : "info"]({ ...line, ...outcome.result }, "the queue job is done");
    else if (outcome.kind === "delay") log.debug({ ...line, delayMs: outcome.ms }, "the queue job is delayed");
    else {
      const { code, cause, message } = outcome.error;
      // The stack of an error of the catalogue shows only where it was translated.
      const reason = cause !== undefined || code === "internal" ? { err: cause ?? outcome.error } : { reason: message };
      log.error({ ...line, code, ...reason }, "the queue job failed");
    }
    return toBullMq(outcome, job, token);
  };
  const attempt = (job: Job, token?: string): Promise<unknown> => {
    // BullMQ still hands over a job that it was fetching when the worker began to close.
    if (isClosing) return toBullMq({ kind: "delay", ms: 0 }, job, token);
    const work = (signal: AbortSignal) => processJob(signal, job, token);
    const running = withDeadline([stopping], queue.timeoutMs, work).finally(() => active.delete(running));
    active.add(running);
    return running;
  };
  const worker = new Worker(queue.name, attempt, {
    connection,
    prefix: queuePrefix(options.prefix, queue.name),
    concurrency,
    lockDuration: timings.queueLockMs,
    stalledInterval: timings.queueLockMs / 3,
  });
  worker.on("error", (error) => log.debug({ err: error }, "the queue in Redis cannot be reached"));
  return async () => {
    isClosing = true;
    const closed = worker.close().then(() => true);
    // BullMQ waits for an unreachable Redis without limit. The records hold whatever it has not stored.
    do await Promise.allSettled(active);
    while (!(await withTimeout(closed, REDIS_CLOSE_TIMEOUT_MS).catch(() => false)) && active.size > 0);
  };
}
