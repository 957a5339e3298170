import { trimSlashes } from "../../shared/address.ts";
import type { GoogleAuth } from "../auth/googleAuth.ts";
import { googleFetch } from "./googleFetch.ts";
import { asList, asText } from "./lenient.ts";

/** What Gmail tells of a change. Its history id is newer than the change: listings begin at the stored one. */
interface Notice {
  readonly emailAddress: string;
  readonly historyId: string;
}

interface PulledNotice {
  readonly ackId: string;
  /** Null where it is none of Gmail's: acknowledge it all the same, or it comes again. */
  readonly notice: Notice | null;
}

/** A pull subscription, named `projects/p/subscriptions/s`. Calls throw GoogleError, or the reason of an aborted signal. */
export interface PubSub {
  /** Waits for notices; [] when none came for a while. */
  pull(subscription: string, max: number, signal: AbortSignal): Promise<PulledNotice[]>;
  /** Those that are not acknowledged come again. */
  acknowledge(subscription: string, ackIds: readonly string[], signal: AbortSignal): Promise<void>;
}

export interface PubSubOptions {
  /** Instead of https://pubsub.googleapis.com. */
  readonly url?: string | undefined;
  /** For one request but a pull; half a minute unless told. */
  readonly timeoutMs?: number;
  /** Pub/Sub answers an empty pull by itself after a time that it does not tell; a minute and a half unless told. */
  readonly pullTimeoutMs?: number;
}

export const PUBSUB = "Pub/Sub";
export const PUBSUB_URL = "https://pubsub.googleapis.com";

export function createPubSub(auth: GoogleAuth, options: PubSubOptions = {}): PubSub {
  const { url = PUBSUB_URL, timeoutMs = 30_000, pullTimeoutMs = 90_000 } = options;
  const post = (path: string, body: object, waiting: { timeoutMs: number; mayWait?: boolean }, signal: AbortSignal) =>
    googleFetch(auth, PUBSUB, { method: "POST", url: pubSubUrl(url, path), body, ...waiting }, signal);

  return {
    async pull(subscription, max, signal) {
      const waiting = { timeoutMs: pullTimeoutMs, mayWait: true };
      const answer = await post(`${subscription}:pull`, { maxMessages: max }, waiting, signal);
      return asList(answer.receivedMessages).flatMap((received) => {
        const ackId = asText(received?.ackId);
        return ackId ? [{ ackId, notice: readNotice(received?.message?.data) }] : [];
      });
    },
    async acknowledge(subscription, ackIds, signal) {
      if (ackIds.length === 0) return;
      await post(`${subscription}:acknowledge`, { ackIds }, { timeoutMs }, signal);
    },
  };
}

/** Without a slash too many; resource names are checked where they are configured. */
export const pubSubUrl = (root: string, path: string): string => `${trimSlashes(root)}/v1/${encodeURI(path)}`;

/** Base64 of JSON; the history id is a number or a string of digits. */
function readNotice(data: unknown): Notice | null {
  let notice: { emailAddress?: unknown; historyId?: unknown } | null;
  try {
    notice = JSON.parse(Buffer.from(asText(data), "base64").toString());
  } catch {
    return null;
  }
  const emailAddress = asText(notice?.emailAddress);
  const historyId = asText(notice?.historyId);
  return emailAddress && /^\d+$/.test(historyId) ? { emailAddress, historyId } : null;
}
