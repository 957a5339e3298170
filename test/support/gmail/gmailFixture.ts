import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Listener, startListener } from "../../../src/gmail/listener/listener.ts";
import type { MailboxDoc } from "../../../src/models/gmailMailbox.ts";
import type { RunDoc } from "../../../src/models/runs/run.ts";
import { TIMINGS } from "../../../src/shared/timings.ts";
import { startApp, type TestApp } from "../app.ts";
import { eventually } from "../eventually.ts";
import { logLines } from "../logLines.ts";
import { type Service, startProcess } from "../process.ts";
import { redisUrl } from "../servers/servers.ts";
import { redirectedTo } from "./googleRedirect.ts";
import { type GoogleServer, startGoogleServer } from "./googleServer.ts";

export const ACCOUNT = "ada@example.org";
export const TOPIC = "projects/my-project/topics/t-gmail";
export const SUBSCRIPTION = "projects/my-project/subscriptions/s-gmail";

/** Pauses that end only when the test advances the time; other changes of the clock end none. */
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

  /** Advances the time. */
  pass(ms: number): void {
    this.#app.clock.advance(ms);
    this.#passed += ms;
    for (const { at, wake } of [...this.#sleeping]) if (at <= this.#passed) wake();
  }

  /** Advances the time quickly until a promise settles. */
  async until(what: Promise<unknown>): Promise<void> {
    const timer = setInterval(() => this.pass(5_000), 20);
    await what.finally(() => clearInterval(timer));
  }

  /** Waits until `count` pauses of this length have begun, then advances the time by it. */
  async passing(ms: number, count = 1): Promise<void> {
    await this.pausing(ms, count);
    this.pass(ms);
  }

  /** Waits until `count` pauses of this length have begun. */
  async pausing(ms: number, count: number): Promise<void> {
    const isPausing = () => this.#sleeping.filter((one) => one.ms === ms).length >= count;
    await eventually(isPausing, `${count} pauses of ${ms} ms`);
  }
}

export interface GmailFixture {
  readonly google: GoogleServer;
  readonly app: TestApp;
  readonly timers: Timers;
  readonly credentialsFile: string;
  /** The environment of a process that uses the same servers. */
  readonly env: Readonly<Record<string, string>>;
  /** The path of the configuration file. */
  readonly configText: string;
  /** The listeners' log, one object per line. */
  readonly log: Record<string, unknown>[];
  /** Starts another listener without waiting. */
  listen(): Listener;
  /** Starts a listener and waits until it has listed the mailbox. */
  listening(): Promise<Listener>;
  /** Closes the last listener, calls the function, and starts another listener. */
  restart(between?: () => unknown): Promise<void>;
  mailbox(): Promise<MailboxDoc>;
  /** Returns the runs in the order of acceptance. */
  runs(): Promise<RunDoc[]>;
  /** Returns the ids of each run's mails, in the order of acceptance. */
  mailIds(): Promise<string[]>;
  /** Waits until the cursor is current and all notices are acknowledged. */
  isCaughtUp(): Promise<void>;
  /** Waits until this number of runs exists. */
  becomeRuns(count: number): Promise<void>;
  /** Returns the texts of the listener's events. */
  eventTexts(): Promise<string[]>;
  close(): Promise<void>;
}

export const CONSENT = { type: "authorized_user", client_id: "c", client_secret: "s", refresh_token: "r" } as const;

/** Runs `signalbox webhooks gmail run` as a process. */
export const runGmailProcess = (env: Readonly<Record<string, string>>): Service =>
  startProcess("src/cli/main.ts", { ...env }, ["webhooks", "gmail", "run"]);

/** Runs the same with a short lease and frequent attempts to acquire it. */
export const runGmailProcessWithShortLease = (env: Readonly<Record<string, string>>): Service =>
  startProcess("test/support/processes/gmail.ts", { ...env });

interface FixtureOptions {
  /** Settings in `hooks.gmail` and in `hooks`, which override the common ones. */
  settings?: object;
  hooks?: object;
  /** Other settings. */
  rest?: object;
  /** Servers of the test. */
  mongo?: string;
  redis?: string;
}

/** Starts an app, a fake Google server, and listeners whose time the test controls. */
export async function startGmailFixture(options: FixtureOptions = {}): Promise<GmailFixture> {
  const { settings = {}, hooks = {}, rest = {}, mongo, redis = await redisUrl() } = options;
  const dir = mkdtempSync(join(tmpdir(), "signalbox-gmail-"));
  const credentialsFile = join(dir, "credentials.json");
  writeFileSync(credentialsFile, JSON.stringify(CONSENT), { mode: 0o600 });
  const google = await startGoogleServer();
  google.pubsub.topics.add(TOPIC);
  google.pubsub.subscriptions.set(SUBSCRIPTION, { topic: TOPIC });
  const gmail = {
    account: ACCOUNT,
    topic: TOPIC,
    subscription: SUBSCRIPTION,
    credentialsFile,
  };
  const config = { ...rest, hooks: { presets: ["gmail"], ...hooks, gmail: { ...gmail, ...settings } } };
  const prefix = `gmail-${randomUUID().slice(0, 8)}`;
  const file = join(dir, "signalbox.json5");
  const configText = JSON.stringify({ ...config, redis: { prefix } });
  writeFileSync(file, configText);
  const app = await startApp({ ...(mongo && { mongo }), redis, prefix, config: JSON.stringify(config) });
  const env = { MONGODB_URI: app.mongoUri, REDIS_URL: redis, SIGNALBOX_CONFIG: file, ...redirectedTo(google) };
  const timers = new Timers(app);
  const listeners: Listener[] = [];
  let isClosed = false;
  const { log, lines } = logLines();

  const fixture: GmailFixture = {
    google,
    app,
    timers,
    credentialsFile,
    env,
    configText,
    log: lines,
    listen() {
      const { stores, queues, clock } = app;
      const listener = startListener(app.config.hooks, app.config.hooks.gmail!, {
        stores,
        queues,
        clock,
        log,
        lease: TIMINGS.lease, // The test controls its time.
        pause: timers.pause,
        google: google.addresses,
      });
      listeners.push(listener);
      return listener;
    },
    async listening() {
      const listener = fixture.listen();
      await eventually(async () => (await app.stores.gmailMailboxes.find(ACCOUNT))?.listedAt, "the first listing");
      return listener;
    },
    async restart(between = () => {}) {
      await listeners.at(-1)?.close();
      between();
      fixture.listen();
    },
    async mailbox() {
      const found = await app.stores.gmailMailboxes.find(ACCOUNT);
      if (!found) throw new Error("there is no mailbox");
      return found;
    },
    runs: () => app.stores.runs.collection.native.find({}, { sort: { order: 1 } }).toArray(),
    async mailIds() {
      return (await fixture.runs()).map(({ mapped }) => JSON.parse(mapped?.call ?? "").payload.messages[0].id);
    },
    async isCaughtUp() {
      const isCovered = async () => (await fixture.mailbox()).cursor === String(google.mailbox.historyId);
      await eventually(isCovered, "the cursor to be where the mailbox is");
      await eventually(() => google.pubsub.outstanding(SUBSCRIPTION) === 0, "the notices to be acknowledged");
    },
    async becomeRuns(count) {
      await eventually(
        async () => (await app.stores.runs.collection.native.countDocuments()) >= count,
        `${count} runs`,
      );
    },
    async eventTexts() {
      const events = await app.stores.mainEvents.collection.native
        .find({ source: "gmail" }, { sort: { order: 1 } })
        .toArray();
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
  return fixture;
}
