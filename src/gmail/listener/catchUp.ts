import type { Clock } from "../../shared/clock.ts";
import type { Logger } from "../../shared/logger.ts";
import type { GmailApi } from "../api/gmailApi.ts";
import { GoogleError } from "../api/googleError.ts";
import type { LeasedMailbox } from "./leasedMailbox.ts";
import { type MailImporter, type MessagePosition, receivedAt, receivedAtOrNow } from "./mailImporter.ts";

export interface CatchUpDeps {
  readonly mailbox: LeasedMailbox;
  readonly importer: MailImporter;
  readonly label: string;
  readonly clock: Clock;
  readonly log: Logger;
  /** Number of mails that a full sync lists at a time (default 10,000). */
  readonly batch?: number;
}

const BATCH_SIZE = 10_000;
/** How far back a full sync looks before the newest imported mail: mails may become visible out of order. */
const OUT_OF_ORDER_MS = 24 * 3_600_000;

/**
 * Imports all mails since the cursor and advances it. Runs are stored before the cursor, so that after an interruption the
 * next call finds the runs and continues from there. The first call only sets the cursor: existing mails become no runs.
 * @throws GoogleError; LeaseLost; AppError unavailable; the reason of an aborted signal
 */
export async function catchUp(deps: CatchUpDeps, gmail: GmailApi, signal: AbortSignal): Promise<void> {
  const { mailbox, importer, label, clock } = deps;
  const listedAt = clock.now();
  let cursor = mailbox.state.cursor ?? (await startFromNow(deps, gmail, signal));
  let hasSynced = false;
  for (;;) {
    const history = await gmail.listHistory(cursor, label, signal);
    if (history === "too-old") {
      if (hasSynced) throw new GoogleError("transient", "Gmail rejects the history id that it has just returned.");
      cursor = await fullSync(deps, gmail, cursor, signal);
      hasSynced = true;
      continue;
    }
    const { runs, newestMailAt } = await importer.importMails(gmail, history.messageIds, signal);
    cursor = history.historyId;
    const seen = { ...(runs > 0 && { lastMailAt: clock.now() }), ...(!history.more && { listedAt }) };
    await mailbox.update({ cursor, ...seen }, newestMailAt);
    if (!history.more) return;
  }
}

async function startFromNow(
  { mailbox, clock, log }: CatchUpDeps,
  gmail: GmailApi,
  signal: AbortSignal,
): Promise<string> {
  const { messageIds } = await gmail.listMessages({ max: 1 }, signal);
  const [id] = messageIds;
  const newest = id === undefined ? null : await gmail.getMessage(id, { includeBody: false }, signal);
  const { historyId: cursor } = await gmail.getProfile(signal);
  await mailbox.update({ cursor, oldUntil: (newest && receivedAtOrNow(clock.now(), newest)) ?? null });
  log.info("the listener reads this mailbox for the first time; existing mails start no runs");
  return cursor;
}

/**
 * Imports mails by listing the mailbox, for a cursor whose history Gmail no longer stores. Skips mails whose history id is not
 * after the cursor, and mails that already have runs.
 * @returns the new cursor
 */
async function fullSync(deps: CatchUpDeps, gmail: GmailApi, cursor: string, signal: AbortSignal): Promise<string> {
  const { mailbox, importer, label, clock, log } = deps;
  const { oldUntil, newestMailAt } = mailbox.state;
  const sinceMs = Math.max(oldUntil?.getTime() ?? 0, (newestMailAt?.getTime() ?? 0) - OUT_OF_ORDER_MS);
  const since = Math.floor(sinceMs / 1_000) - 1;
  log.warn(
    { since: new Date(sinceMs) },
    "Gmail no longer has the history since the last listing; the listener reads all mails since then",
  );
  const isWanted = (position: MessagePosition) => {
    const at = receivedAt(position);
    return !isBeforeCursor(position, cursor) && (!at || !oldUntil || at > oldUntil);
  };
  // Changes made during the sync are in the history after this id, and possibly in the listing as well.
  const { historyId } = await gmail.getProfile(signal);
  let newest: Date | undefined;
  let max = deps.batch ?? BATCH_SIZE;
  let before = Number.POSITIVE_INFINITY;
  for (;;) {
    const query = [since > 0 && `after:${since}`, before < Number.POSITIVE_INFINITY && `before:${before}`];
    const options = { query: query.filter(Boolean).join(" "), labelIds: [label], max };
    const { messageIds, more } = await gmail.listMessages(options, signal);
    const imported = await importer.importMails(gmail, messageIds.toReversed(), signal, isWanted);
    if (imported.runs > 0) await mailbox.update({ lastMailAt: clock.now() });
    if (imported.newestMailAt && imported.newestMailAt > (newest ?? 0)) newest = imported.newestMailAt;
    if (!more) break;
    const next = await secondAfterOldest(gmail, messageIds, signal);
    if (next >= before) max *= 2; // all mails of this page were received in the same second
    before = Math.min(before, next);
  }
  // Not stored earlier: after an interruption, the next sync would look back only from this newest mail.
  await mailbox.update({ cursor: historyId }, newest);
  return historyId;
}

/** Returns whether a mail has not changed since the cursor, which means that it existed before. */
function isBeforeCursor({ historyId }: MessagePosition, cursor: string): boolean {
  return /^\d+$/.test(historyId ?? "") && BigInt(historyId ?? 0) <= BigInt(cursor);
}

/** Returns the second after the oldest mail was received, as a Unix time; infinity if none of the mails exists any more. */
async function secondAfterOldest(gmail: GmailApi, ids: readonly string[], signal: AbortSignal): Promise<number> {
  for (const id of ids.toReversed()) {
    const message = await gmail.getMessage(id, { includeBody: false }, signal);
    const at = message && receivedAt(message);
    if (at) return Math.floor(at.getTime() / 1_000) + 1;
  }
  return Number.POSITIVE_INFINITY;
}
