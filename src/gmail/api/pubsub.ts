import { trimSlashes } from "../../shared/address.ts";
import type { GoogleAuth } from "../auth/googleAuth.ts";
import { googleFetch } from "./googleFetch.ts";

/** Gmail's notification of a change. Its history id is newer than the change, so that listings begin at the stored one. */
interface MailboxNotification {
  readonly emailAddress: string;
  readonly historyId: string;
}

interface PulledNotification {
  readonly ackId: string;
  /** Null if Gmail did not send it. It must be acknowledged all the same, or Pub/Sub delivers it again. */
  readonly notification: MailboxNotification | null;
}

/** A pull subscription, named `projects/p/subscriptions/s`. Calls throw GoogleError, or the reason of an aborted signal. */
export interface PubSub {
  /** Waits for notifications; returns [] if none arrive for a while. */
  pull(subscription: string, max: number, signal: AbortSignal): Promise<PulledNotification[]>;
  /** Acknowledges notifications; Pub/Sub delivers the others again. */
  acknowledge(subscription: string, ackIds: readonly string[], signal: AbortSignal): Promise<void>;
}

interface PubSubOptions {
  /** Replaces https://pubsub.googleapis.com. */
  readonly url?: string | undefined;
  /** Time limit for a request other than a pull (default 30 s). */
  readonly timeoutMs?: number;
  /** Time limit for a pull (default 90 s). Pub/Sub ends an empty pull itself, after an undocumented time. */
  readonly pullTimeoutMs?: number;
}

export const PUBSUB = "Pub/Sub";
export const PUBSUB_URL = "https://pubsub.googleapis.com";

export function createPubSub(auth: GoogleAuth, options: PubSubOptions = {}): PubSub {
  const { url = PUBSUB_URL, timeoutMs = 30_000, pullTimeoutMs = 90_000 } = options;
  const post = (
    path: string,
    body: object,
    pullOptions: { timeoutMs: number; isEmptyOnTimeout?: boolean },
    signal: AbortSignal,
  ) => googleFetch(auth, PUBSUB, { method: "POST", url: pubSubUrl(url, path), body, ...pullOptions }, signal);

  return {
    async pull(subscription, max, signal) {
      const pullOptions = { timeoutMs: pullTimeoutMs, isEmptyOnTimeout: true };
      const response = await post(`${subscription}:pull`, { maxMessages: max }, pullOptions, signal);
      return asArray(response.receivedMessages).flatMap((received) => {
        const ackId = asText(received?.ackId);
        return ackId ? [{ ackId, notification: readNotification(received?.message?.data) }] : [];
      });
    },
    async acknowledge(subscription, ackIds, signal) {
      if (ackIds.length === 0) return;
      await post(`${subscription}:acknowledge`, { ackIds }, { timeoutMs }, signal);
    },
  };
}

/** Returns the URL of a resource path. The configuration has validated resource names. */
export const pubSubUrl = (root: string, path: string): string => `${trimSlashes(root)}/v1/${encodeURI(path)}`;

/** Parses a notification, which is base64 of JSON; its history id is a number or a string of digits. */
function readNotification(data: unknown): MailboxNotification | null {
  let notification: { emailAddress?: unknown; historyId?: unknown } | null;
  try {
    notification = JSON.parse(Buffer.from(asText(data), "base64").toString());
  } catch {
    return null;
  }
  const emailAddress = asText(notification?.emailAddress);
  const historyId = asText(notification?.historyId);
  return emailAddress && /^\d+$/.test(historyId) ? { emailAddress, historyId } : null;
}

/** Returns a string or a number as text; "" for any other value. */
export const asText = (value: unknown): string =>
  typeof value === "string" ? value : typeof value === "number" ? String(value) : "";

/** Returns an array unchanged; [] for any other value. */
// biome-ignore lint/suspicious/noExplicitAny: elements can have any shape
export const asArray = (value: unknown): any[] => (Array.isArray(value) ? value : []);
