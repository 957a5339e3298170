import { gmail, type gmail_v1 } from "@googleapis/gmail";
import type { GoogleAuth } from "../auth/googleAuth.ts";
import { GoogleError } from "./googleError.ts";

type GmailMessage = gmail_v1.Schema$Message;

/** What became of the mailbox since a history id. */
interface History {
  /** Mails that were added, each once, in their order. */
  readonly messageIds: readonly string[];
  /** Up to here everything is in `messageIds`: where the next listing begins. */
  readonly historyId: string;
  /** Whether a bound ended the listing, so that there is more after `historyId` already. */
  readonly more: boolean;
}

/** One mailbox. Every call is asked once and throws GoogleError, or the signal's reason when that is aborted. */
export interface GmailApi {
  getProfile(signal: AbortSignal): Promise<{ emailAddress: string; historyId: string }>;
  /** Begins or renews the notices; Gmail ends them by itself after `expiresAt`. */
  watch(
    options: { topic: string; labelIds: readonly string[] },
    signal: AbortSignal,
  ): Promise<{ historyId: string; expiresAt: Date }>;
  /** Ends the notices of this mailbox, on all topics. */
  stop(signal: AbortSignal): Promise<void>;
  /** `too-old`: Gmail no longer knows what came after this id. */
  listHistory(startHistoryId: string, labelId: string | undefined, signal: AbortSignal): Promise<History | "too-old">;
  /** The newest first, at most `max`; `more` when there are others. Not SPAM and TRASH. */
  listMessages(
    options: { query?: string | undefined; labelIds?: readonly string[]; max: number },
    signal: AbortSignal,
  ): Promise<{ messageIds: string[]; more: boolean }>;
  /** Null when it is gone. Without its body where that is not wanted: headers, labels and snippet come all the same. */
  getMessage(id: string, options: { includeBody: boolean }, signal: AbortSignal): Promise<GmailMessage | null>;
}

export interface GmailApiOptions {
  /** Instead of https://gmail.googleapis.com; only its origin counts. */
  readonly url?: string | undefined;
  /** For one request, from its beginning to the end of its answer; a minute unless told. */
  readonly timeoutMs?: number;
  /** For one `listHistory`: so many pages of 500 at most. */
  readonly maxPages?: number;
}

const SERVICE = "Gmail";
const ME = { userId: "me" } as const;
const PAGE_SIZE = 500;

export function createGmailApi(auth: GoogleAuth, options: GmailApiOptions = {}): GmailApi {
  const { url, timeoutMs = 60_000, maxPages = 20 } = options;
  const { users } = gmail({ version: "v1", auth: auth.client, retry: false, ...(url && { rootUrl: url }) });

  /** One request; an answer that is no JSON object is none of Gmail's. */
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
      // Answered with 204 and nothing.
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
      // A bound without a record would leave the cursor where it is, and the next listing at the same pages.
      for (let page = 1; page <= maxPages || lastHistoryId === startHistoryId; page++) {
        const pageParams = { ...params, ...(pageToken && { pageToken }) };
        const found = await nullIfNotFound(request((o) => users.history.list(pageParams, o), signal));
        if (!found) return "too-old";
        for (const { id, messagesAdded } of found.history ?? []) {
          lastHistoryId = laterHistoryId(lastHistoryId, id);
          for (const { message } of messagesAdded ?? []) if (message?.id) messageIds.add(message.id);
        }
        // Of the first page: what came while the others were fetched may be in none of them.
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

async function nullIfNotFound<T>(answer: Promise<T>): Promise<T | null> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof GoogleError && error.status === 404) return null;
    throw error;
  }
}

/** History ids grow, beyond what a number can hold. */
function laterHistoryId(id: string, other: unknown): string {
  const text = String(other ?? "");
  return /^\d+$/.test(text) && /^\d+$/.test(id) && BigInt(text) > BigInt(id) ? text : id;
}

const unreadableResponse = () => new GoogleError("transient", `${SERVICE}'s answer could not be read.`);
