import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Listener, startListener } from "../../src/gmail/listener/listener.ts";
import type { MailboxDoc } from "../../src/models/gmailMailbox.ts";
import type { RunDoc } from "../../src/models/runs/run.ts";
import { TIMINGS } from "../../src/shared/timings.ts";
import { startApp, type TestApp } from "./app.ts";
import { eventually } from "./eventually.ts";
import { type GoogleServer, startGoogleServer } from "./googleServer.ts";
import { logLines } from "./logLines.ts";
import { type Service, startProcess } from "./process.ts";
import { redisUrl } from "./servers.ts";

export const ACCOUNT = "ada@example.org";
export const TOPIC = "projects/my-project/topics/t-gmail";
export const SUBSCRIPTION = "projects/my-project/subscriptions/s-gmail";

/** Pauses that last until a test has let their time pass; a clock that is set otherwise ends none. */
class Timers {
  readonly #app: TestApp;
  #passed = 0;
  #sleeping: { ms: number; at: number; wake: () => void }[] = [];
  constructor(app: TestApp) {
    this.#app = app;
  }

  readonly pause = (ms: number, signal: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      const sleeper = { ms, at: this.#passed + ms, wake: () => end() };
      const end = () => {
        signal.removeEventListener("abort", end);
        this.#sleeping = this.#sleeping.filter((one) => one !== sleeper);
        resolve();
      };
      if (signal.aborted || ms === 0) return resolve();
      signal.addEventListener("abort", end);
      this.#sleeping.push(sleeper);
    });

  /** Lets time pass. */
  pass(ms: number): void {
    this.#app.clock.advance(ms);
    this.#passed += ms;
    for (const { at, wake } of [...this.#sleeping]) if (at <= this.#passed) wake();
  }

  /** Lets time pass fast until something has come true. */
  async until(what: Promise<unknown>): Promise<void> {
    const timer = setInterval(() => this.pass(5_000), 20);
    await what.finally(() => clearInterval(timer));
  }

  /** Waits until somebody, or so many, pause for so long, and lets that time pass. */
  async passing(ms: number, count = 1): Promise<void> {
    await this.pausing(ms, count);
    this.pass(ms);
  }

  /** Waits until so many pause for so long. */
  async pausing(ms: number, count: number): Promise<void> {
    const isPausing = () => this.#sleeping.filter((one) => one.ms === ms).length >= count;
    await eventually(isPausing, `${count} pauses of ${ms} ms`);
  }
}

export interface GmailBed {
  readonly google: GoogleServer;
  readonly app: TestApp;
  readonly timers: Timers;
  readonly credentialsFile: string;
  /** What a process of ours needs to work on the same. */
  readonly env: Readonly<Record<string, string>>;
  /** The configuration file that it names. */
  readonly configText: string;
  /** What the listeners logged, one object a line. */
  readonly log: Record<string, unknown>[];
  /** Starts one more listener; waits for nothing. */
  listen(): Listener;
  /** Starts one and waits until it has listed the mailbox. */
  listening(): Promise<Listener>;
  /** Ends the last one, and starts another after what is to happen in between. */
  restart(between?: () => unknown): Promise<void>;
  mailbox(): Promise<MailboxDoc>;
  /** In the order of their acceptance. */
  runs(): Promise<RunDoc[]>;
  /** Of the mails that have become runs, in the order of their acceptance; of each run. */
  mailIds(): Promise<string[]>;
  /** Waits until the cursor is where the mailbox is, and all notices are acknowledged. */
  isCaughtUp(): Promise<void>;
  /** Waits until so many runs are there. */
  becomeRuns(count: number): Promise<void>;
  /** The texts of the events that come from the listener. */
  told(): Promise<string[]>;
  close(): Promise<void>;
}

export const CONSENT = { type: "authorized_user", client_id: "c", client_secret: "s", refresh_token: "r" } as const;

/** `signalbox webhooks gmail run`, as a process. */
export const runGmailProcess = (env: Readonly<Record<string, string>>): Service =>
  startProcess("src/cli/main.ts", { ...env }, ["webhooks", "gmail", "run"]);

/** The same with a lease that ends soon after the process does, and is tried for often. */
export const runHastyGmailProcess = (env: Readonly<Record<string, string>>): Service =>
  startProcess("test/support/processes/gmail.ts", { ...env });

interface BedOptions {
  /** In `hooks.gmail` and in `hooks`, over what every test has. */
  settings?: object;
  hooks?: object;
  /** What else stands in the file. */
  rest?: object;
  /** Servers of the test's own. */
  mongo?: string;
  redis?: string;
}

/** An app, a server that behaves as Google's, and listeners whose pauses a test lets pass. */
export async function startGmailBed(options: BedOptions = {}): Promise<GmailBed> {
  const { settings = {}, hooks = {}, rest = {}, mongo, redis = await redisUrl() } = options;
  const dir = mkdtempSync(join(tmpdir(), "signalbox-gmail-"));
  const credentialsFile = join(dir, "credentials.json");
  writeFileSync(credentialsFile, JSON.stringify(CONSENT), { mode: 0o600 });
  const google = await startGoogleServer();
  google.pubsub.topics.add(TOPIC);
  google.pubsub.subscriptions.set(SUBSCRIPTION, { topic: TOPIC });
  const { url, tokenUrl } = google;
  const gmail = {
    account: ACCOUNT,
    topic: TOPIC,
    subscription: SUBSCRIPTION,
    credentialsFile,
    apiUrl: url,
    pubsubUrl: url,
    tokenUrl,
  };
  const config = { ...rest, hooks: { presets: ["gmail"], ...hooks, gmail: { ...gmail, ...settings } } };
  const prefix = `gmail-${randomUUID().slice(0, 8)}`;
  const file = join(dir, "signalbox.json5");
  const configText = JSON.stringify({ ...config, redis: { prefix } });
  writeFileSync(file, configText);
  const app = await startApp({ ...(mongo && { mongo }), redis, prefix, config: JSON.stringify(config) });
  const env = { MONGODB_URI: app.mongoUri, REDIS_URL: redis, SIGNALBOX_CONFIG: file };
  const timers = new Timers(app);
  const listeners: Listener[] = [];
  let isClosed = false;
  const { log, lines } = logLines();

  const bed: GmailBed = {
    ...{ google, app, timers, credentialsFile, env, configText, log: lines },
    listen() {
      const { stores, queues, clock } = app;
      const listener = startListener(app.config.hooks, app.config.hooks.gmail!, {
        stores,
        queues,
        clock,
        log,
        lease: TIMINGS.lease, // its pauses are let pass by the test
        pause: timers.pause,
      });
      listeners.push(listener);
      return listener;
    },
    async listening() {
      const listener = bed.listen();
      await eventually(async () => (await app.stores.gmailMailboxes.find(ACCOUNT))?.listedAt, "the first listing");
      return listener;
    },
    async restart(between = () => {}) {
      await listeners.at(-1)?.close();
      between();
      bed.listen();
    },
    async mailbox() {
      const found = await app.stores.gmailMailboxes.find(ACCOUNT);
      if (!found) throw new Error("there is no mailbox");
      return found;
    },
    runs: () => app.stores.runs.collection.find({}, { sort: { order: 1 } }).toArray(),
    async mailIds() {
      return (await bed.runs()).map(({ mapped }) => JSON.parse(mapped?.call ?? "").payload.messages[0].id);
    },
    async isCaughtUp() {
      const isCovered = async () => (await bed.mailbox()).cursor === String(google.mailbox.historyId);
      await eventually(isCovered, "the cursor to be where the mailbox is");
      await eventually(() => google.pubsub.outstanding(SUBSCRIPTION) === 0, "the notices to be acknowledged");
    },
    async becomeRuns(count) {
      await eventually(async () => (await app.stores.runs.collection.countDocuments()) >= count, `${count} runs`);
    },
    async told() {
      const events = await app.stores.events.collection.find({ source: "gmail" }, { sort: { order: 1 } }).toArray();
      return events.map(({ text }) => text);
    },
    async close() {
      if (isClosed) return;
      isClosed = true;
      await Promise.all(listeners.map((listener) => listener.close()));
      await app.close();
      await google.close();
      rmSync(dir, { recursive: true });
    },
  };
  return bed;
}
