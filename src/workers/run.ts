import { Ajv } from "ajv";
import { type Job, Worker } from "bullmq";
import type { Clock } from "../shared/clock.ts";
import { AppError } from "../shared/errors.ts";
import type { Logger } from "../shared/logger.ts";
import { QUEUES, type QueueDef, queuePrefix } from "../shared/queue/definitions.ts";
import type { RedisConnection } from "../shared/queue/redis.ts";
import { withDeadline, withTimeout } from "../shared/timeouts.ts";
import type { Timings } from "../shared/timings.ts";
import { type Outcome, outcomeOfThrown, toBullMq } from "./outcome.ts";

/** What every processor is given besides its own deps. The signal fires on time-out and when the process stops. */
export interface RunContext {
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly log: Logger;
  readonly timings: Timings;
}

/** Does the work of one job of a queue. It may be run twice for one job. `lastTry`: the queue tries no more after this. */
export type Processor = (
  job: { readonly id: string; readonly payload: unknown; readonly lastTry: boolean },
  context: RunContext,
) => Promise<Outcome>;

export interface RunOptions {
  readonly connection: RedisConnection;
  readonly prefix: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly timings: Timings;
  /** How many jobs of a queue this process does side by side; one where nothing is said. */
  readonly concurrency?: Readonly<Record<string, number>>;
}

const ajv = new Ajv();

/** How long a worker that closes and has no work under way any more waits for Redis. */
const LAST_WORDS_MS = 2_000;

/**
 * Starts a BullMQ worker for every queue that has a processor; only those of channels need none.
 * @returns what stops them: takes no new work, waits for the work under way, and tells it to end after the grace, if one
 *   is given; called again with one it does so from then
 */
export function runWorkers(
  processors: ReadonlyMap<QueueDef, Processor>,
  options: RunOptions,
): { close(graceMs?: number): Promise<void> } {
  const orphan = QUEUES.find((queue) => !queue.optional && !processors.has(queue));
  if (orphan) throw new Error(`the queue ${orphan.name} has no processor`);
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

/** @returns what stops it and waits for all that is under way */
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
  const underWay = new Set<Promise<unknown>>();
  const carryOut = async (signal: AbortSignal, job: Job, token?: string): Promise<unknown> => {
    const started = performance.now();
    const given = { id: String(job.id), payload: job.data, lastTry: job.attemptsMade + 1 >= (job.opts.attempts ?? 1) };
    const outcome: Outcome = isPayload(job.data)
      ? await processor(given, { signal, clock, log, timings }).catch(outcomeOfThrown)
      : {
          kind: "discard",
          error: new AppError("internal", { detail: `The payload does not fit: ${ajv.errorsText(isPayload.errors)}` }),
        };
    const line = { job: job.id, outcome: outcome.kind, ms: Math.round(performance.now() - started) };
    if (outcome.kind === "done") log.info({ ...line, ...outcome.result }, "job done");
    else if (outcome.kind === "delay") log.debug({ ...line, againMs: outcome.ms }, "job comes again later");
    else log.error({ ...line, code: outcome.error.code, err: outcome.error.cause ?? outcome.error }, "job failed");
    return toBullMq(outcome, job, token);
  };
  const attempt = (job: Job, token?: string): Promise<unknown> => {
    const work = (signal: AbortSignal) => carryOut(signal, job, token);
    const one = withDeadline([stopping], queue.timeoutMs, work).finally(() => underWay.delete(one));
    underWay.add(one);
    return one;
  };
  const worker = new Worker(queue.name, attempt, {
    connection,
    prefix: queuePrefix(options.prefix, queue.name),
    concurrency,
    lockDuration: timings.queueLockMs,
    stalledInterval: timings.queueLockMs / 3,
  });
  worker.on("error", (error) => log.debug({ err: error }, "the queue cannot be reached"));
  return async () => {
    const closed = worker.close().then(() => true);
    // BullMQ waits for a Redis that is away, however long; what it has not been told, the records say
    do await Promise.allSettled(underWay);
    while (!(await withTimeout(closed, LAST_WORDS_MS).catch(() => false)) && underWay.size > 0);
  };
}
