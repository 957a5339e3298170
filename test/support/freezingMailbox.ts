import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Listener, startListener } from "../../src/gmail/listener/listener.ts";
import { parseConfig } from "../../src/shared/config/load.ts";
import { TIMINGS } from "../../src/shared/timings.ts";
import type { TestApp } from "./app.ts";
import { eventually } from "./eventually.ts";
import { SUBSCRIPTION, TOPIC } from "./gmailBed.ts";
import { startGoogleServer } from "./googleServer.ts";
import { logLines } from "./logLines.ts";
import { startMongoProxy } from "./mongoProxy.ts";

/** A point of what a listener does: a request to Google, or a write, that is about to be sent, or to be answered. */
export interface Point {
  readonly of: "google" | "mongo";
  readonly when: "request" | "answer";
}

/** What mailboxes of a test share. */
export interface MailboxSet {
  readonly app: TestApp;
  /** Holds `credentials.json`. */
  readonly dir: string;
  /** What is to be closed, the last first. */
  readonly closing: (() => Promise<unknown>)[];
}

export type FreezingMailbox = Awaited<ReturnType<typeof openMailbox>>;

/**
 * A mailbox of its own, with a server that behaves as Google's, a way to MongoDB of its own, and a listener that has listed
 * it once and is gone. What listens to it next is frozen at the point, with everything that it has under way.
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
  const hold = { at, when, held: freeze };
  const proxy = await startMongoProxy(app.mongoUri, of === "mongo" ? hold : undefined);
  closing.push(proxy.close);
  const credentialsFile = join(dir, "credentials.json");
  const addresses = { apiUrl: google.url, pubsubUrl: google.url, tokenUrl: google.tokenUrl };
  const gmail = { account, topic: TOPIC, subscription: SUBSCRIPTION, credentialsFile, ...addresses };
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
    // each pause lasts until the listener is closed
    const pause = (_ms: number, signal: AbortSignal) =>
      new Promise<void>((resolve) => {
        if (signal.aborted) resolve();
        else signal.addEventListener("abort", () => resolve(), { once: true });
      });
    const { log } = logLines();
    listeners.push(startListener(hooks, hooks.gmail!, { stores, queues, clock, log, lease: TIMINGS.lease, pause }));
  };
  const find = () => app.stores.gmailMailboxes.find(account);
  const closeListeners = async () => {
    await Promise.all(listeners.splice(0).map((listener) => listener.close()));
    // or its pull would take a notice along
    await eventually(() => google.pubsub.pulling() === 0, "its pull to end");
  };
  closing.push(closeListeners);
  listen();
  await eventually(async () => (await find())?.listedAt, "the first listing");
  await closeListeners();

  const isAcknowledged = () => google.pubsub.outstanding(SUBSCRIPTION) === 0;
  return {
    ...{ google, configFile, listen, isAcknowledged },
    isHeld: () => isHeld,
    /** Has the point counted from here. */
    holdAtPoint: () => google.hold(of === "google" ? hold : undefined),
    /** Has the world answer again. */
    thaw() {
      google.hold(undefined);
      google.isFrozen = false;
      google.pubsub.redeliver();
    },
    async isDone() {
      await eventually(isAcknowledged, "the notice to be acknowledged");
      await eventually(async () => (await find())?.cursor === String(google.mailbox.historyId), "the cursor");
    },
    /** Of the mails that have become runs, in the order of their acceptance. */
    async mailIds(): Promise<string[]> {
      const runs = await app.stores.runs.collection.find({}, { sort: { order: 1 } }).toArray();
      const payloads = runs.map(({ mapped }) => JSON.parse(mapped?.call ?? "").payload);
      return payloads.filter((payload) => payload.account === account).map(({ messages }) => messages[0].id);
    },
  };
}
