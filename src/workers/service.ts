import { openChannels } from "../channels/channels.ts";
import { proxiesOf } from "../channels/webhook/connections.ts";
import { WebhookSender } from "../channels/webhook/sender.ts";
import { blindBudgets } from "../config/agents/budgetChecks.ts";
import { ChatAccess } from "../config/channels/chatAccess.ts";
import type { Config } from "../config/config.ts";
import { keepLimits } from "../config/hooks.ts";
import { withoutOwnSecrets } from "../config/load.ts";
import { traceTarget } from "../config/otel.ts";
import { compileMappings } from "../hooks/mappings/mapping.ts";
import { Transforms } from "../hooks/transforms/transforms.ts";
import type { AddedDelivery } from "../models/deliveries/addDelivery.ts";
import { readStoppedChannels } from "../models/deliveries/channelStop.ts";
import { JobTokens } from "../models/jobs/tokens/jobTokens.ts";
import { readExpectedJobs } from "../models/notifications/expectedJobs.ts";
import type { Stores } from "../models/stores.ts";
import { localUrl } from "../shared/address.ts";
import { CHANNELS } from "../shared/channelNames.ts";
import type { Clock } from "../shared/clock.ts";
import type { Logger } from "../shared/logger.ts";
import {
  agentHook,
  channelCheck,
  chat,
  deliveriesTo,
  heartbeat,
  mappedHook,
  notify,
  type QueueDef,
  retention,
} from "../shared/queue/definitions.ts";
import type { Queues } from "../shared/queue/producer.ts";
import type { RedisConnection } from "../shared/queue/redis.ts";
import type { RunEventsDeps } from "../shared/queue/runEvents.ts";
import { durationMs } from "../shared/text/duration.ts";
import type { Timings } from "../shared/timings.ts";
import { startChat } from "./chat/chat.ts";
import { chatProcessor } from "./chat/handleUpdates.ts";
import { OncePerKey } from "./chat/oncePerKey.ts";
import { ChannelLimiter } from "./deliveries/channelLimiter.ts";
import { enqueueDelivery } from "./deliveries/enqueueDelivery.ts";
import { ReceiverLimiter } from "./deliveries/receiverLimiter.ts";
import { startLive } from "./live/startLive.ts";
import type { WorkerMetrics } from "./metrics.ts";
import { notifyProcessor } from "./notify/dispatch.ts";
import { compileRules } from "./notify/rule.ts";
import { startPeriodicTasks } from "./periodicTasks.ts";
import { agentHookProcessor } from "./processors/agentHook.ts";
import { channelCheckProcessor } from "./processors/channelCheck.ts";
import { deliverProcessor } from "./processors/deliver.ts";
import { deliverWebhookProcessor } from "./processors/deliverWebhook.ts";
import { heartbeatProcessor } from "./processors/heartbeat.ts";
import { mappedHookProcessor } from "./processors/mappedHook.ts";
import { retentionProcessor } from "./processors/retention.ts";
import { AgentTable, runnerName } from "./runs/agentTable.ts";
import { RunBudgets } from "./runs/budgets.ts";
import { type ExecuteRunDeps, finalize as finalizeRun } from "./runs/executeRun.ts";
import { TurnShares } from "./runs/turnShares.ts";
import { type Processor, runWorkers } from "./runWorkers.ts";

export interface ServiceDeps {
  readonly stores: Stores;
  readonly queues: Queues;
  /** A connection for BullMQ workers, which waits for Redis to come back. */
  readonly connection: RedisConnection;
  /** Opens a connection for reading the stream of changes. */
  openReader(): RedisConnection;
  /** The Redis connection and prefix under which the events of running turns are written. */
  readonly runEvents: RunEventsDeps;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: WorkerMetrics;
  readonly timings: Timings;
  /** The environment of programs that a command runner starts. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

export interface Service {
  /** Starts no more jobs from this call on. Active jobs that take too long are released to other workers. */
  close(): Promise<void>;
  /** Starts no more jobs from this call on, and resolves when all active ones have ended, however long that takes. */
  retire(): Promise<void>;
}

/** Maximum concurrent deliveries of one channel, each to another recipient. */
const DELIVERY_CONCURRENCY = 10;
/** Maximum concurrent webhooks. A receiver that hangs takes one or two of them. */
const WEBHOOK_CONCURRENCY = 100;
/** Maximum concurrent mapped runs. Larger than `TRANSFORM_THREADS`, so that mappings without a transform need not wait. */
const MAPPING_CONCURRENCY = 100;
const TRANSFORM_THREADS = 32;

/** Starts everything that a worker process does under one configuration. The caller must close or retire it. */
export function startService(config: Config, deps: ServiceDeps): Service {
  const { stores, queues, connection, clock, log, env, metrics } = deps;
  const { agents, hooks, session, worker } = config;
  const timings = { ...deps.timings, lease: { ...deps.timings.lease, isStrict: worker.strictLeases } };
  const agentTable = new AgentTable(agents, env, timings.shutdown.programMs);
  const { publicUrl } = config.server;
  const hooksUrl = publicUrl === undefined ? undefined : publicUrl + hooks.path;
  const channels = openChannels(config.channels, { log, env: withoutOwnSecrets(env), publicUrl, hooksUrl });
  metrics.addSeries({
    channels: channels.keys(),
    rules: config.notify,
    readStopped: () => readStoppedChannels(stores),
    readExpected: () => readExpectedJobs(stores, config.expect),
  });
  const limited = new Map(
    [...channels].map(([name, channel]) => [name, { channel, limiter: new ChannelLimiter(timings.channel) }]),
  );
  const delivery = { initialReplyTarget: session.main ?? null, channels: new Set(channels.keys()) };
  const deliver = (added: AddedDelivery) => enqueueDelivery(deps, added);
  const budgets = new RunBudgets(agents, deps);
  for (const sentence of blindBudgets(agents)) log.warn(sentence);
  const finalize = (runId: string) => finalizeRun({ ...deps, delivery, budgets }, runId);
  const runUrl = env.SIGNALBOX_URL ?? localUrl(config.server);
  const access = new ChatAccess(config.channels);
  const traces = traceTarget(config.otel);
  if (config.otel.traces && !traces) {
    log.warn({}, "no traces are sent: set otel.endpoint or OTEL_EXPORTER_OTLP_ENDPOINT, or otel.traces to false");
  }
  const dispatch = {
    ...deps,
    traces: traces && agents,
    access,
    rules: compileRules(config.notify),
    delivery,
    publicUrl,
    deliver,
    retryMs: timings.sweep.minAgeMs,
    triggerHeartbeat: () => queues.triggerHeartbeat(),
    url: runUrl,
    gatherMs: durationMs(agents.returns.gather),
    staleAfterSeconds: config.jobs.staleAfterSeconds,
    agent: agents.defaults,
    startRun: (runId: string, delayMs: number) => queues.add(agentHook, { runId }, { jobId: runId, delayMs }),
  };
  const transforms = new Transforms({
    dir: hooks.transformsDir ?? "",
    timeoutMs: hooks.transformTimeoutSeconds * 1_000,
    maxThreads: TRANSFORM_THREADS,
    env: withoutOwnSecrets(env),
    onOutput: (run, stream, line) => log.info({ run, stream, line }, "a transform printed a line"),
  });
  const sender = new WebhookSender({
    allowedHosts: config.outbound?.allowedHosts,
    timings: timings.webhook,
    proxies: proxiesOf(env),
  });
  const turns = new TurnShares(worker.concurrency);
  const mappings = compileMappings(hooks);
  const chatDeps = {
    retryMs: timings.chat.retryMs,
    ...deps,
    channels,
    access,
    hooks,
    mappings,
    agents,
    audited: new OncePerKey(),
  };
  const runDeps: ExecuteRunDeps = {
    stores,
    queues,
    metrics,
    delivery,
    agents: agentTable,
    budgets,
    session,
    jobTokens: new JobTokens(stores, clock, config.server),
    url: runUrl,
    runEvents: deps.runEvents,
    showTools: agents.showTools,
  };
  const processors = new Map<QueueDef, Processor>([
    [
      mappedHook,
      mappedHookProcessor({
        stores,
        hooks,
        agents,
        metrics,
        finalize,
        mappings,
        transform: (request, signal) => transforms.run(request, signal),
        backpressureDelayMs: (module) => transforms.backpressureDelayMs(module),
        enqueue: (runId, occasion) =>
          queues.add(agentHook, { runId }, { jobId: occasion ? `${runId}-${occasion}` : runId }),
        triggerHeartbeat: () => queues.triggerHeartbeat(),
      }),
    ],
    [agentHook, agentHookProcessor(runDeps, turns)],
    [
      heartbeat,
      heartbeatProcessor({
        stores,
        runner: agentTable.main.runner,
        session,
        delivery,
        queues,
        metrics,
        runnerName: runnerName(agents),
        defaults: agentTable.main.settings,
        ruleTurnsPerMinute: config.notifyTurnsPerMinute,
        prompt: agents.defaults.heartbeat.prompt,
      }),
    ],
    ...[...limited].map(([name, { channel, limiter }]): [QueueDef, Processor] => [
      deliveriesTo(name),
      deliverProcessor(
        {
          stores,
          name,
          channel,
          metrics,
          followDeliveries: session.followDeliveries,
          requeue: (deliveryId, occasion, delayMs, priority) =>
            queues.deliver({ deliveryId, channel: name }, { occasion, delayMs, priority }),
        },
        { channel: limiter, receivers: new ReceiverLimiter(timings.webhook) },
      ),
    ]),
    [
      deliveriesTo("webhook"),
      deliverWebhookProcessor(
        {
          stores,
          metrics,
          sender,
          settings: config,
          requeue: (deliveryId, occasion, delayMs) =>
            queues.deliver({ deliveryId, channel: "webhook" }, { occasion, delayMs }),
        },
        new ReceiverLimiter(timings.webhook),
      ),
    ],
    [channelCheck, channelCheckProcessor({ channels, stores })],
    [notify, notifyProcessor(dispatch)],
    [chat, chatProcessor(chatDeps)],
    [
      retention,
      retentionProcessor(stores, {
        ...config.retention,
        retainSingleUse: session.retainSingleUse,
        requests: hooks.keepRequests === undefined ? undefined : keepLimits(hooks.keepRequests),
      }),
    ],
  ]);
  const workers = runWorkers(processors, {
    connection,
    clock,
    log,
    timings,
    prefix: config.redis.prefix,
    concurrency: {
      [mappedHook.name]: MAPPING_CONCURRENCY,
      [channelCheck.name]: CHANNELS.length,
      [deliveriesTo("webhook").name]: WEBHOOK_CONCURRENCY,
      [agentHook.name]: TurnShares.queueConcurrency(worker.concurrency, mappings.length + 2),
      ...Object.fromEntries([...channels.keys()].map((name) => [deliveriesTo(name).name, DELIVERY_CONCURRENCY])),
    },
  });
  const { every: heartbeatEvery } = agents.defaults.heartbeat;
  const periodicTasks = startPeriodicTasks({
    ...deps,
    finalize,
    channels: new Set([...delivery.channels, "webhook"]),
    rules: dispatch.rules,
    traces: traces && { ...traces, proxies: proxiesOf(env) },
    expect: config.expect,
    staleAfterSeconds: config.jobs.staleAfterSeconds,
    heartbeatEveryMs: heartbeatEvery === "off" ? null : durationMs(heartbeatEvery),
  });
  const inbound = startChat({ ...chatDeps, timings, settings: config.channels, hooksUrl });
  const live = startLive({
    ...deps,
    rules: dispatch.rules.filter(({ isLive }) => isLive),
    channels: limited,
    publicUrl,
    prefix: config.redis.prefix,
  });
  const end = async (graceMs?: number) => {
    turns.close();
    const polling = inbound.close();
    const closing = workers.close(graceMs);
    await Promise.all([periodicTasks.close(), live.close(), polling]);
    await closing;
    await Promise.all([transforms.close(), sender.close()]);
  };
  return { close: () => end(graceMs(worker.shutdownSeconds)), retire: () => end() };
}

/**
 * How long active jobs may run during shutdown before they are released to other workers. Leaves at least 3 s of
 * `worker.shutdownSeconds`, of which a program that must be killed takes 2 s.
 */
const graceMs = (shutdownSeconds: number): number =>
  Math.max(0, Math.min(shutdownSeconds * 600, shutdownSeconds * 1_000 - 3_000));
