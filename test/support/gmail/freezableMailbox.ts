import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseConfig } from "../../../src/config/load.ts";
import { type Listener, startListener } from "../../../src/gmail/listener/listener.ts";
import { TIMINGS } from "../../../src/shared/timings.ts";
import type { TestApp } from "../app.ts";
import { eventually } from "../eventually.ts";
import { logLines } from "../logLines.ts";
import { startMongoProxy } from "../servers/mongoProxy.ts";
import { SUBSCRIPTION, TOPIC } from "./gmailFixture.ts";
import { startGoogleServer } from "./googleServer.ts";

/**
 * A point in a listener's work: a request to Google or a write to MongoDB, before it is sent or before its response.
 */
export interface Point {
  readonly of: "google" | "mongo";
  readonly when: "request" | "answer";
}

/** The shared state of a test's mailboxes. */
export interface MailboxSet {
  readonly app: TestApp;
  /** The directory with `credentials.json`. */
  readonly dir: string;
  /** The functions to call at the end, in reverse order. */
  readonly closing: (() => Promise<unknown>)[];
}

export type FreezableMailbox = Awaited<ReturnType<typeof openMailbox>>;

/**
 * Opens a mailbox with a fake Google server and a MongoDB proxy of its own, after a first listener has listed it and
 * has been closed. The next listener is frozen at the point, with all its pending operations.
 */
export async function openMailbox({ app, dir, closing }: MailboxSet, at: number, { of, when }: Point) {
  const account = `mailbox-${at}@example.org`;
  const google = await startGoogleServer();
  closing.push(google.close);
  Object.assign(google.mailbox, { emailAddress: account });
  google.pubsub.topics.add(TOPIC);
  google.pubsub.subscriptions.set(SUBSCRIPTION, { topic: TOPIC });
  let isHeld = false;
  const freeze = () => {
    isHeld = true;
    google.isFrozen = true;
    proxy.freeze();
  };
  const hold = { at, when, onHeld: freeze };
  const proxy = await startMongoProxy(app.mongoUri, of === "mongo" ? hold : undefined);
  closing.push(proxy.close);
  const credentialsFile = join(dir, "credentials.json");
  const gmail = { account, topic: TOPIC, subscription: SUBSCRIPTION, credentialsFile };
  const text = JSON.stringify({
    mongodb: { uri: proxy.uri },
    redis: { prefix: app.prefix },
    hooks: { presets: ["gmail"], gmail },
  });
  const configFile = join(dir, `${at}.json5`);
  writeFileSync(configFile, text);
  const { hooks } = parseConfig(text, {});

  const listeners: Listener[] = [];
  const listen = () => {
    const { stores, queues, clock } = app;
    // Each pause lasts until the listener is closed.
    const pause = (_ms: number, signal: AbortSignal) =>
      new Promise<void>((resolve) => {
        if (signal.aborted) resolve();
        else signal.addEventListener("abort", () => resolve(), { once: true });
      });
    const { log } = logLines();
    const deps = { stores, queues, clock, log, pause, lease: TIMINGS.lease, google: google.addresses };
    listeners.push(startListener(hooks, hooks.gmail!, deps));
  };
  const find = () => app.stores.gmailMailboxes.find(account);
  const closeListeners = async () => {
    await Promise.all(listeners.splice(0).map((listener) => listener.close()));
    // Otherwise its pull would receive a notice.
    await eventually(() => google.pubsub.pulling() === 0, "its pull to end");
  };
  closing.push(closeListeners);
  listen();
  await eventually(async () => (await find())?.listedAt, "the first listing");
  await closeListeners();

  const isAcknowledged = () => google.pubsub.outstanding(SUBSCRIPTION) === 0;
  return {
    google,
    configFile,
    listen,
    isAcknowledged,
    isHeld: () => isHeld,
    /** Counts the operations up to the point from now on. */
    holdAtPoint: () => google.hold(of === "google" ? hold : undefined),
    /** Lets Google and MongoDB respond again. */
    thaw() {
      google.hold(undefined);
      google.isFrozen = false;
      google.pubsub.redeliver();
    },
    async isDone() {
      await eventually(isAcknowledged, "the notice to be acknowledged");
      await eventually(async () => (await find())?.cursor === String(google.mailbox.historyId), "the cursor");
    },
    /** Returns the ids of the mails that have become runs, in the order of acceptance. */
    async mailIds(): Promise<string[]> {
      const runs = await app.stores.runs.collection.native.find({}, { sort: { order: 1 } }).toArray();
      const payloads = runs.map(({ mapped }) => JSON.parse(mapped?.call ?? "").payload);
      return payloads.filter((payload) => payload.account === account).map(({ messages }) => messages[0].id);
    },
  };
}
