import { randomUUID } from "node:crypto";
import { Redis } from "ioredis";
import pino from "pino";
import type { Channel, OutgoingMessage, SendOutcome } from "../../../src/channels/channel.ts";
import { readStoppedChannels } from "../../../src/models/deliveries/channelStop.ts";
import type { DeliveryDoc } from "../../../src/models/deliveries/delivery.ts";
import { deliveriesTo, QUEUES, type QueueDef } from "../../../src/shared/queue/definitions.ts";
import { TIMINGS } from "../../../src/shared/timings.ts";
import { ChannelLimiter } from "../../../src/workers/deliveries/channelLimiter.ts";
import { ReceiverLimiter } from "../../../src/workers/deliveries/receiverLimiter.ts";
import { WorkerMetrics } from "../../../src/workers/metrics.ts";
import { type DeliverDeps, deliverProcessor } from "../../../src/workers/processors/deliver.ts";
import { type Processor, runWorkers } from "../../../src/workers/runWorkers.ts";
import { startApp, type TestApp } from "../../support/app.ts";
import { eventually } from "../../support/eventually.ts";
import { redisUrl } from "../../support/servers/servers.ts";
import { FAST_TIMINGS } from "../../support/timings.ts";

export const SENT: SendOutcome = { kind: "sent", id: "m" };

export const resultOf = (
  kind: "transient" | "authentication" | "gone" | "content" | "refused" | "ambiguous",
): SendOutcome => ({ kind, reason: `It was ${kind}.` });

export const limited = (scope: "channel" | "recipient", retryAfterMs: number): SendOutcome => ({
  kind: "rate-limited",
  scope,
  retryAfterMs,
  reason: "Too many.",
});

/** An attempt waits for a limit of a second; the minimum is a tenth of the real one. */
export const PAUSES = { ...TIMINGS.channel, probePollMs: 20, minLimitMs: 100 };

/** The result of one call of the channel. */
export type Answer =
  | SendOutcome
  | ((message: OutgoingMessage, signal: AbortSignal) => SendOutcome | Promise<SendOutcome>);

/** The fields that a test reads. */
export interface Deliveries {
  readonly app: TestApp;
  readonly metrics: WorkerMetrics;
  /** The messages that the channel received. */
  readonly messages: OutgoingMessage[];
  /** The worker's log. */
  readonly lines: Record<string, unknown>[];
}

/**
 * Starts an app before each test of the current suite and passes it to `onStart`. The worker with a channel of the test starts
 * with `start`; it stops after the test.
 */
export function useDeliveries(onStart: (deliveries: Deliveries) => void) {
  let [app, connection, metrics] = [] as unknown as [TestApp, Redis, WorkerMetrics];
  let workers: { close(graceMs?: number): Promise<void> } | undefined;
  let messages: OutgoingMessage[] = [];
  let lines: Record<string, unknown>[] = [];
  const stop = async () => {
    const running = workers;
    workers = undefined;
    await running?.close(0);
  };
  beforeEach(async () => {
    app = await startApp({ config: `{ channels: { telegram: { botToken: "t" } } }` });
    connection = new Redis(await redisUrl(), { maxRetriesPerRequest: null });
    metrics = new WorkerMetrics();
    messages = [];
    lines = [];
    onStart({ app, metrics, messages, lines });
  });
  afterEach(async () => {
    await stop();
    connection.disconnect();
    await app.close();
  });

  async function add(text: string, to = "anna", given: Partial<DeliveryDoc> = {}): Promise<string> {
    const _id = randomUUID();
    const { sessionKey, ...more } = given;
    const ofSession = sessionKey !== undefined && { sessionKey };
    await app.stores.deliveries.add({ _id, runId: null, channel: "telegram", to, text, fault: null, ...ofSession });
    await app.stores.deliveries.collection.native.updateOne({ _id }, { $set: { reason: null, ...more } });
    await app.queues.deliver({ deliveryId: _id, channel: "telegram" });
    return _id;
  }

  return {
    /** Starts a worker whose channel returns the given results, then accepts everything. */
    start(
      answers: Answer[],
      { idempotentForMs = 0, limit = 1_000, limiter = new ChannelLimiter(PAUSES), style = () => {} } = {},
    ): void {
      const channel: Channel = {
        idempotentForMs,
        get style() {
          style();
          return { dialect: "plain" as const, limit, unit: "utf16" as const };
        },
        async send(message, signal) {
          messages.push(message);
          const answer = answers.shift() ?? SENT;
          return typeof answer === "function" ? answer(message, signal) : answer;
        },
        check: async () => ({ ok: true, detail: "" }),
      };
      const { stores, queues, clock } = app;
      const log = pino({ level: "trace" }, { write: (line: string) => void lines.push(JSON.parse(line)) });
      const queue = deliveriesTo("telegram");
      const requeue: DeliverDeps["requeue"] = (deliveryId, occasion, delayMs) =>
        queues.deliver({ deliveryId, channel: "telegram" }, { occasion, delayMs });
      const processor = deliverProcessor(
        { stores, name: "telegram", channel, metrics, requeue, followDeliveries: true },
        { channel: limiter, receivers: new ReceiverLimiter() },
      );
      metrics.addSeries({ channels: ["telegram"], rules: [], readStopped: () => readStoppedChannels(stores) });
      const idle = QUEUES.map((def): [QueueDef, Processor] => [def, async () => ({ kind: "done" })]);
      workers = runWorkers(new Map([...idle, [queue, processor]]), {
        connection,
        clock,
        log,
        prefix: app.prefix,
        timings: FAST_TIMINGS,
        concurrency: { [queue.name]: 10 },
      });
    },
    /** Stops the worker, without waiting for attempts under way. */
    stop,
    add,
    /** Adds a delivery whose attempt ends with a wait; another one that is added before may be sent meanwhile. */
    async addWaiting(text: string, to?: string, given?: Partial<DeliveryDoc>): Promise<string> {
      const id = await add(text, to, given);
      await eventually(async () => (await app.stores.deliveries.find(id)).notBefore, `"${text}" to wait`);
      return id;
    },
    until: (id: string, state: DeliveryDoc["state"], withinMs?: number) =>
      eventually(
        async () => {
          const delivery = await app.stores.deliveries.find(id);
          return delivery.state === state && delivery;
        },
        `the delivery to be ${state}`,
        withinMs,
      ),
    /** Waits for a line of the metrics: an outcome is counted after it is stored. */
    counted: (line: RegExp) => eventually(async () => line.test(await metrics.registry.metrics()), `${line}`),
    async telegram() {
      const { channels } = (await app.call("GET", "/api/channels")).body;
      return channels.find(({ channel }: { channel: string }) => channel === "telegram");
    },
    texts: () => messages.map(({ to, text }) => `${to}: ${text}`),
  };
}
