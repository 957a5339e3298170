import { gmail, type gmail_v1 } from "@googleapis/gmail";
import type { GoogleAuth } from "../auth/googleAuth.ts";
import { GoogleError } from "./googleError.ts";

type GmailMessage = gmail_v1.Schema$Message;

/** The changes of a mailbox since a history id. */
interface History {
  /** Ids of added mails in order, without duplicates. */
  readonly messageIds: readonly string[];
  /** The history id up to which `messageIds` is complete; the next listing begins here. */
  readonly historyId: string;
  /** Whether `maxPages` ended the listing, so that there are more changes after `historyId`. */
  readonly more: boolean;
}

/** One mailbox. Each method sends its requests without retries; it throws GoogleError, or the reason of an aborted signal. */
export interface GmailApi {
  getProfile(signal: AbortSignal): Promise<{ emailAddress: string; historyId: string }>;
  /** Starts or renews notifications, which Gmail ends at `expiresAt`. */
  watch(
    options: { topic: string; labelIds: readonly string[] },
    signal: AbortSignal,
  ): Promise<{ historyId: string; expiresAt: Date }>;
  /** Ends the notifications of this mailbox on all topics. */
  stop(signal: AbortSignal): Promise<void>;
  /** Lists the changes since a history id; returns `too-old` if Gmail no longer stores them. */
  listHistory(startHistoryId: string, labelId: string | undefined, signal: AbortSignal): Promise<History | "too-old">;
  /** Lists at most `max` mails, newest first, without SPAM and TRASH; `more` is true if there are others. */
  listMessages(
    options: { query?: string | undefined; labelIds?: readonly string[]; max: number },
    signal: AbortSignal,
  ): Promise<{ messageIds: string[]; more: boolean }>;
  /** Returns a mail, or null if it no longer exists. Headers, labels and snippet are included with or without the body. */
  getMessage(id: string, options: { includeBody: boolean }, signal: AbortSignal): Promise<GmailMessage | null>;
}

export interface GmailApiOptions {
  /** Replaces https://gmail.googleapis.com; only its origin is used. */
  readonly url?: string | undefined;
  /** Time limit for one request including its response (default one minute). */
  readonly timeoutMs?: number;
  /** Maximum number of pages of 500 that one `listHistory` fetches. */
  readonly maxPages?: number;
}

const SERVICE = "Gmail";
const ME = { userId: "me" } as const;
const PAGE_SIZE = 500;

export function createGmailApi(auth: GoogleAuth, options: GmailApiOptions = {}): GmailApi {
  const { url, timeoutMs = 60_000, maxPages = 20 } = options;
  const { users } = gmail({ version: "v1", auth: auth.client, retry: false, ...(url && { rootUrl: url }) });

  /** Sends one request. Throws a transient GoogleError if the response is not a JSON object, as Gmail always returns one. */
  function request<T>(send: (options: object) => Promise<{ data: T }>, signal: AbortSignal): Promise<T> {
    return auth.call(
      SERVICE,
      async () => {
        const { data } = await send({ signal, timeout: timeoutMs });
        if (typeof data !== "object" || data === null) throw unreadableResponse();
        return data;
      },
      signal,
    );
  }

  return {
    async getProfile(signal) {
      const { emailAddress, historyId } = await request((o) => users.getProfile(ME, o), signal);
      if (!emailAddress || !historyId) throw unreadableResponse();
      return { emailAddress, historyId: String(historyId) };
    },

    async watch({ topic: topicName, labelIds }, signal) {
      const labels = labelIds.length > 0 && { labelIds: [...labelIds], labelFilterBehavior: "INCLUDE" };
      const requestBody = { topicName, ...labels };
      const { historyId, expiration } = await request((o) => users.watch({ ...ME, requestBody }, o), signal);
      const expiresAt = new Date(Number(expiration));
      if (!historyId || !expiration || Number.isNaN(expiresAt.getTime())) throw unreadableResponse();
      return { historyId: String(historyId), expiresAt };
    },

    async stop(signal) {
      // Not through `request`: the response is an empty 204.
      await auth.call(SERVICE, () => users.stop(ME, { signal, timeout: timeoutMs }), signal);
    },

    async listHistory(startHistoryId, labelId, signal) {
      const messageIds = new Set<string>();
      const params = {
        ...ME,
        startHistoryId,
        historyTypes: ["messageAdded"],
        maxResults: PAGE_SIZE,
        ...(labelId && { labelId }),
      };
      let lastHistoryId = startHistoryId;
      let mailboxHistoryId = startHistoryId;
      let pageToken: string | undefined;
      // Stopping before the first record would not advance the cursor, so that the next listing would read the same pages.
      for (let page = 1; page <= maxPages || lastHistoryId === startHistoryId; page++) {
        const pageParams = { ...params, ...(pageToken && { pageToken }) };
        const found = await nullIfNotFound(request((o) => users.history.list(pageParams, o), signal));
        if (!found) return "too-old";
        for (const { id, messagesAdded } of found.history ?? []) {
          lastHistoryId = laterHistoryId(lastHistoryId, id);
          for (const { message } of messagesAdded ?? []) if (message?.id) messageIds.add(message.id);
        }
        // Taken from the first page: changes made while later pages are fetched may be in none of them.
        if (page === 1) mailboxHistoryId = laterHistoryId(startHistoryId, found.historyId);
        pageToken = found.nextPageToken ?? undefined;
        if (!pageToken)
          return {
            messageIds: [...messageIds],
            historyId: laterHistoryId(lastHistoryId, mailboxHistoryId),
            more: false,
          };
      }
      return { messageIds: [...messageIds], historyId: lastHistoryId, more: true };
    },

    async listMessages({ query: q, labelIds = [], max }, signal) {
      const messageIds: string[] = [];
      let pageToken: string | undefined;
      do {
        const maxResults = Math.min(PAGE_SIZE, max - messageIds.length);
        const params = { ...ME, maxResults, ...(q && { q }), ...(labelIds.length > 0 && { labelIds: [...labelIds] }) };
        const found = await request(
          (o) => users.messages.list({ ...params, ...(pageToken && { pageToken }) }, o),
          signal,
        );
        messageIds.push(...(found.messages ?? []).flatMap(({ id }) => id ?? []));
        pageToken = found.nextPageToken ?? undefined;
      } while (pageToken && messageIds.length < max);
      return { messageIds: messageIds.slice(0, max), more: pageToken !== undefined || messageIds.length > max };
    },

    async getMessage(id, { includeBody }, signal) {
      const params = { ...ME, id, format: includeBody ? "full" : "metadata" };
      return nullIfNotFound(request((o) => users.messages.get(params, o), signal));
    },
  };
}

async function nullIfNotFound<T>(response: Promise<T>): Promise<T | null> {
  try {
    return await response;
  } catch (error) {
    if (error instanceof GoogleError && error.status === 404) return null;
    throw error;
  }
}

/** Returns the later of two history ids. They exceed the range of a number. */
function laterHistoryId(id: string, other: unknown): string {
  const text = String(other ?? "");
  return /^\d+$/.test(text) && /^\d+$/.test(id) && BigInt(text) > BigInt(id) ? text : id;
}

const unreadableResponse = () => new GoogleError("transient", `${SERVICE}'s answer could not be read.`);
