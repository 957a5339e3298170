import { isAcknowledgement } from "../agents/prompt/acknowledgement.ts";
import { agentPrompt } from "../agents/prompt/agentPrompt.ts";
import { fence } from "../agents/prompt/fence.ts";
import { DEFAULT_HEARTBEAT_PROMPT, heartbeatPrompt } from "../agents/prompt/heartbeatPrompt.ts";
import { createRunner } from "../agents/runners/createRunner.ts";
import { openChannels } from "../channels/channels.ts";
import { compileMappings } from "../hooks/mappings/mapping.ts";
import { Transforms } from "../hooks/transforms/transforms.ts";
import type { NotedDelivery } from "../models/deliveries/addDelivery.ts";
import type { Stores } from "../models/stores.ts";
import type { Clock } from "../shared/clock.ts";
import { durationMs } from "../shared/config/formats/duration.ts";
import { resolveModel } from "../shared/config/formats/modelList.ts";
import { withoutOwnSecrets } from "../shared/config/ownSecrets.ts";
import type { Config } from "../shared/config/schema/config.ts";
import type { Logger } from "../shared/logger.ts";
import {
  agentHook,
  deliveriesTo,
  heartbeat,
  mappedHook,
  type QueueDef,
  retention,
} from "../shared/queue/definitions.ts";
import type { Queues } from "../shared/queue/producer.ts";
import type { RedisConnection } from "../shared/queue/redis.ts";
import type { Timings } from "../shared/timings.ts";
import { isVisible } from "../shared/visible.ts";
import { ChannelGate } from "./deliveries/channelGate.ts";
import type { WorkerMetrics } from "./metrics.ts";
import { agentHookProcessor } from "./processors/agentHook.ts";
import { deliverProcessor } from "./processors/deliver.ts";
import { heartbeatProcessor } from "./processors/heartbeat.ts";
import { mappedHookProcessor } from "./processors/mappedHook.ts";
import { retentionProcessor } from "./processors/retention.ts";
import { type Processor, runWorkers } from "./run.ts";
import { finalizer } from "./runs/finalize.ts";
import { TurnShares } from "./runs/turnShares.ts";
import { keepSchedules } from "./schedules.ts";
import { startSweep } from "./sweep.ts";

/** Of a turn of the main session: its transcript keeps it in one document, of 16 MiB, and a character takes up to 3 bytes. */
const MOST_TOLD_CHARS = 5_000_000;
/** To different recipients of one channel. */
const DELIVERIES_AT_ONCE = 10;
/** Most of them wait for a thread; the others pass them. */
const MAPPINGS_AT_ONCE = 100;
const TRANSFORM_THREADS = 32;

export interface ServiceDeps {
  readonly stores: Stores;
  readonly queues: Queues;
  /** For the workers: waits for Redis to come back. */
  readonly connection: RedisConnection;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: WorkerMetrics;
  readonly timings: Timings;
  /** For the programs that a command runner starts. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

export interface Service {
  /** Takes nothing new; what is under way is handed back when it takes too long. */
  close(): Promise<void>;
  /** Takes nothing new, and resolves when all that is under way has ended, however long that takes. */
  retire(): Promise<void>;
}

/** Everything a worker process does, from a configuration. Closed by whoever started it. */
export function startService(config: Config, deps: ServiceDeps): Service {
  const { stores, queues, connection, clock, log, env, metrics, timings } = deps;
  const { agents, hooks, session, worker } = config;
  const runner = createRunner(agents.defaults.runner, agents.runners, env, timings.shutdown.programMs);
  const channels = openChannels(config.channels, { log, env: withoutOwnSecrets(env) });
  metrics.channelStopped.reset(); // nobody knows yet whether these credentials are good
  const isWorthDelivering = (reply: string) => isVisible(reply) && !isAcknowledgement(reply);
  const delivery = { firstRoute: session.main ?? null, channels: new Set(channels.keys()) };
  const deliver = async ({ fault, channel, deliveryId }: NotedDelivery) => {
    if (fault === null) await queues.deliver({ deliveryId, channel });
    else metrics.deliveries.inc({ channel, outcome: "failed" });
  };
  const finalize = finalizer(stores, queues, { ...delivery, isWorthDelivering }, deliver);
  const transforms = new Transforms({
    dir: hooks.transformsDir ?? "",
    timeoutMs: hooks.transformTimeoutSeconds * 1_000,
    maxMemoryMiB: hooks.transformMemoryMiB,
    maxThreads: TRANSFORM_THREADS,
    env: withoutOwnSecrets(env),
    onOutput: (run, stream, line) => log.info({ run, stream, line }, "a transform printed"),
  });
  const turns = new TurnShares(worker.concurrency);
  const mappings = compileMappings(hooks);
  const resolved = resolveModel(agents.defaults, undefined);
  const model = resolved.ok ? resolved.model : undefined; // the configuration was checked
  const processors = new Map<QueueDef, Processor>([
    [
      mappedHook,
      mappedHookProcessor({
        ...{ stores, hooks, defaults: agents.defaults, metrics, finalize, mappings },
        transform: (request, signal) => transforms.run(request, signal),
        backpressureDelayMs: (module) => transforms.backpressureDelayMs(module),
        enqueue: (runId, occasion) =>
          queues.add(agentHook, { runId }, { jobId: occasion ? `${runId}-${occasion}` : runId }),
        triggerHeartbeat: () => queues.triggerHeartbeat(),
      }),
    ],
    [
      agentHook,
      agentHookProcessor({
        ...{ stores, runner, session, finalize, metrics, turns, model, systemPrompt: agents.defaults.systemPrompt },
        prompt: ({ name, request }) => {
          const { message, instructions, allowUnsafe = false } = request;
          return agentPrompt({ message, source: name ?? "agent hook", instructions, allowUnsafe });
        },
        earlier: ({ name }, message) => fence(message, name ?? "agent hook"),
        env: ({ _id, request }) =>
          request.trackAsJob ? { SIGNALBOX_JOB_ID: _id, SIGNALBOX_URL: apiUrl(config, env) } : {},
        requeue: (runId, occasion, delayMs) =>
          queues.add(agentHook, { runId }, { jobId: `${runId}-${occasion}`, delayMs }),
      }),
    ],
    [
      heartbeat,
      heartbeatProcessor({
        ...{ stores, runner, session, delivery, deliver, isWorthDelivering, metrics },
        defaults: { ...agents.defaults, model },
        prompt: (events) =>
          heartbeatPrompt({
            prompt: agents.defaults.heartbeat.prompt ?? DEFAULT_HEARTBEAT_PROMPT,
            events: events.map(({ _id: eventId, text, source, createdAt: at, told }) => {
              return { eventId, text, source, at, told };
            }),
            maxChars: Math.min(session.maxChars, MOST_TOLD_CHARS),
          }),
      }),
    ],
    ...[...channels].map(([name, channel]): [QueueDef, Processor] => [
      deliveriesTo(name),
      deliverProcessor(
        {
          ...{ stores, name, channel, metrics, followDeliveries: session.followDeliveries },
          requeue: (deliveryId, occasion, delayMs) =>
            queues.deliver({ deliveryId, channel: name }, { occasion, delayMs }),
        },
        new ChannelGate(timings.channel),
      ),
    ]),
    [retention, retentionProcessor(stores, { ...config.retention, retainSingleUse: session.retainSingleUse })],
  ]);
  const workers = runWorkers(processors, {
    ...{ connection, clock, log, timings, prefix: config.redis.prefix },
    concurrency: {
      [mappedHook.name]: MAPPINGS_AT_ONCE,
      [agentHook.name]: TurnShares.jobsOf(worker.concurrency, mappings.length + 2),
      ...Object.fromEntries([...channels.keys()].map((name) => [deliveriesTo(name).name, DELIVERIES_AT_ONCE])),
    },
  });
  const sweep = startSweep({
    ...{ stores, queues, clock, log, finalize, metrics, channels: delivery.channels },
    timings: timings.sweep,
  });
  const schedules = keepSchedules(queues, log, {
    heartbeatEveryMs: durationMs(agents.defaults.heartbeat.every),
    sayEveryMs: timings.sayScheduleMs,
  });
  const end = async (graceMs?: number) => {
    await schedules.close();
    await sweep.close();
    turns.close();
    await workers.close(graceMs);
    await transforms.close();
  };
  return { close: () => end(graceMs(worker.shutdownSeconds)), retire: () => end() };
}

/** Where the agent itself can report steps of its job. */
function apiUrl({ server }: Config, env: ServiceDeps["env"]): string {
  const host = ["0.0.0.0", "::"].includes(server.host) ? "127.0.0.1" : server.host;
  return env.SIGNALBOX_URL ?? `http://${host.includes(":") ? `[${host}]` : host}:${server.port}`;
}

/**
 * How much of the time that a stopping worker has work under way gets before it is handed back. A program that does not
 * end by itself takes two seconds of the rest.
 */
const graceMs = (shutdownSeconds: number): number =>
  Math.max(0, Math.min(shutdownSeconds * 600, shutdownSeconds * 1_000 - 3_000));
