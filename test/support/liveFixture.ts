import type { Timings } from "../../src/shared/timings.ts";
import { startApp, type TestApp } from "./app.ts";
import { eventually } from "./eventually.ts";
import {
  type EditableService,
  type ServiceName,
  type ShownMessage,
  startEditableService,
} from "./servers/editableServices.ts";
import { FAST_TIMINGS } from "./timings.ts";
import { startWorker, type TestWorker } from "./worker.ts";

/** Another worker takes over at once, and a slow request is no lost one. */
export const LIVE_TIMINGS: Timings = { ...FAST_TIMINGS, lease: { ...FAST_TIMINGS.lease, acquireEveryMs: 100 } };

/** The settings of each service at an address, and a recipient. */
const SETTINGS = {
  telegram: (apiUrl: string) => [{ telegram: { apiUrl, botToken: "1:a" } }, "1234"],
  slack: (apiUrl: string) => [{ slack: { apiUrl, botToken: "xoxb-1" } }, "C0123"],
  discord: (apiUrl: string) => [{ discord: { apiUrl, botToken: "b" } }, "123456789012345678"],
  mattermost: (apiUrl: string) => [{ mattermost: { apiUrl, botToken: "b" } }, "abcdefghijklmnopqrstuvwxyz"],
  ntfy: (baseUrl: string) => [{ ntfy: { baseUrl } }, "jobs"],
  oldNtfy: (baseUrl: string) => [{ ntfy: { baseUrl } }, "jobs"],
} as const satisfies Record<ServiceName, (url: string) => readonly [object, string]>;

/** A service with a rule whose messages follow jobs, its workers, and a server that stands for the chat. */
export class LiveFixture {
  readonly app: TestApp;
  readonly service: EditableService;
  readonly #timings: Timings;
  readonly #workers: TestWorker[] = [];

  private constructor(app: TestApp, service: EditableService, timings: Timings) {
    this.app = app;
    this.service = service;
    this.#timings = timings;
  }

  static async start(
    name: ServiceName,
    { rule = {}, timings = LIVE_TIMINGS }: { readonly rule?: object; readonly timings?: Timings } = {},
  ): Promise<LiveFixture> {
    const service = await startEditableService(name);
    const [channels, to] = SETTINGS[name](service.server.url);
    const target = { channel: Object.keys(channels)[0], to, live: true };
    const notify = [{ id: "live", on: ["job.progress"], to: target, ...rule }];
    const app = await startApp({ config: JSON.stringify({ channels, notify }) });
    const fixture = new LiveFixture(app, service, timings);
    await fixture.startWorker();
    return fixture;
  }

  get messages(): readonly ShownMessage[] {
    return this.service.messages;
  }

  async startWorker(): Promise<TestWorker> {
    const worker = await startWorker(this.app, {}, this.#timings);
    this.#workers.push(worker);
    return worker;
  }

  /** Stops all workers. */
  async stopWorkers(): Promise<void> {
    await Promise.all(this.#workers.splice(0).map((worker) => worker.close()));
  }

  /** Waits until a message of the chat contains a text. */
  shows(text: string): Promise<ShownMessage> {
    return eventually(() => this.messages.find((one) => one.text.includes(text)), `a message with ${text}`);
  }

  /** Returns whether the service has recorded the message of a job. */
  recorded(): Promise<unknown> {
    const { liveMessages } = this.app.database.collections;
    return eventually(() => liveMessages.findOne({ id: { $type: "string" }, lease: null }), "the record of a message");
  }

  /** Waits until the message of a job cannot be edited any more. */
  async givenUp(): Promise<void> {
    const { liveMessages } = this.app.database.collections;
    await eventually(
      () => liveMessages.findOne({ id: null, isShown: true, lease: null }),
      "a message that is given up",
    );
  }

  /** Waits for the message that makes a failure ring. */
  rings() {
    return eventually(() => this.messages.find(({ text }) => /^[^⏳❌✅]/u.test(text)), "a message that rings");
  }

  /** Waits until all ends are dispatched and delivered. */
  async settled(): Promise<void> {
    const { jobs, deliveries } = this.app.database.collections;
    const isDone = async () =>
      (await jobs.countDocuments({ "notes.at": { $exists: true } })) +
        (await deliveries.countDocuments({ open: true })) ===
      0;
    await eventually(isDone, "the delivery of all ends");
  }

  async close(): Promise<void> {
    await this.stopWorkers();
    await this.app.close();
    await this.service.close();
  }
}
