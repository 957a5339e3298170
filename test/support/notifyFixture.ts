import type { DeliveryDoc } from "../../src/models/deliveries/delivery.ts";
import { startApp, type TestApp } from "./app.ts";
import { eventually } from "./eventually.ts";
import { FAST_TIMINGS } from "./timings.ts";
import { startWorker, type TestWorker } from "./worker.ts";

/** The tests wait for scans, so that these follow each other at once. */
const TIMINGS = { ...FAST_TIMINGS, sweep: { ...FAST_TIMINGS.sweep, everyMs: 30 } };

/** A secret of Standard Webhooks for tests. */
const WEBHOOK_SECRET = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;

/** A target to which nothing is sent: the tests look at the stored deliveries. */
export const toWebhook = (more: object = {}) => ({
  webhook: { url: "http://127.0.0.1:9/in", secret: WEBHOOK_SECRET, ...more },
});

/** A target whose messages the worker logs. */
export const toLog = { channel: "log", to: "people" };

/** The service with rules, and what its rules have made. */
export class NotifyFixture {
  readonly app: TestApp;
  #worker: TestWorker;
  /** The passes of the scan that came to their last part. */
  #passes = 0;

  private constructor(app: TestApp, worker: TestWorker) {
    this.app = app;
    this.#worker = worker;
    const { outbox } = app.stores;
    const hasLeft = outbox.hasLeft.bind(outbox);
    outbox.hasLeft = (before) => {
      this.#passes++;
      return hasLeft(before);
    };
  }

  /** @param more further keys of the configuration */
  static async start(notify: readonly object[], more: object = {}): Promise<NotifyFixture> {
    const config = { channels: { log: {} }, notify, ...more };
    const app = await startApp({ config: JSON.stringify(config) });
    return new NotifyFixture(app, await startWorker(app, {}, TIMINGS));
  }

  get worker(): TestWorker {
    return this.#worker;
  }

  /** Stops the worker until `startWorker`. */
  stopWorker(): Promise<void> {
    return this.#worker.close();
  }

  async startWorker(): Promise<void> {
    this.#worker = await startWorker(this.app, {}, TIMINGS);
  }

  /** Returns the deliveries of a rule, oldest first. */
  deliveries(rule: string | null): Promise<DeliveryDoc[]> {
    return this.app.stores.deliveries.collection.native.find({ "event.rule": rule }).sort({ order: 1 }).toArray();
  }

  /** Returns the bodies of a rule's webhooks, oldest first. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into the data of every event
  async bodies(rule: string | null): Promise<any[]> {
    return (await this.deliveries(rule)).map(({ webhook }) => JSON.parse(webhook?.body ?? "null"));
  }

  /** Waits until no record has notes any more. */
  async dispatched(): Promise<void> {
    const { jobs, runs, deliveries, expectations, outbox } = this.app.database.collections;
    const noted = { "notes.at": { $exists: true } };
    const isDone = async () => {
      const counts = await Promise.all([
        jobs.countDocuments(noted),
        runs.countDocuments(noted),
        deliveries.countDocuments(noted),
        expectations.countDocuments(noted),
        outbox.countDocuments(noted),
      ]);
      return counts.every((count) => count === 0);
    };
    await eventually(isDone, "the dispatch of all events");
  }

  /** Waits until the scan has looked at the present state in a whole pass, and all events are dispatched. */
  async scanned(): Promise<void> {
    const before = this.#passes;
    await eventually(() => this.#passes >= before + 2, "a pass of the scan"); // The first may have begun earlier.
    await this.dispatched();
  }

  /** Waits until a rule has made a number of deliveries, and all events are dispatched. */
  async delivered(rule: string | null, count: number): Promise<DeliveryDoc[]> {
    await eventually(async () => (await this.deliveries(rule)).length >= count, `${count} deliveries of ${rule}`);
    await this.dispatched();
    return this.deliveries(rule);
  }

  async close(): Promise<void> {
    await this.#worker.close();
    await this.app.close();
  }
}
