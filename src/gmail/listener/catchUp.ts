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
  /** How many mails a full sync lists at a time. */
  readonly batch?: number;
}

const BATCH_SIZE = 10_000;
/** Mails may become visible later than others that were received after them. */
const OUT_OF_ORDER_MS = 24 * 3_600_000;

/**
 * Makes runs of all mails since the cursor, which moves behind them: first the runs are written, then the cursor. Whatever
 * ends it in between, the next one finds the runs and goes on from there. The first time of all nothing but the cursor is
 * set: mails that were there before become no runs.
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
      if (hasSynced) throw new GoogleError("transient", "Gmail does not know the history id that it has just told.");
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
  log.info("the mailbox is listened to from now on; mails that are there already become no runs");
  return cursor;
}

/**
 * For a cursor of which Gmail has forgotten what came after it: looks through the mails that came since then. Their history
 * ids tell those that the cursor has passed; those that have become runs are known.
 * @returns the new cursor
 */
async function fullSync(deps: CatchUpDeps, gmail: GmailApi, cursor: string, signal: AbortSignal): Promise<string> {
  const { mailbox, importer, label, clock, log } = deps;
  const { oldUntil, newestMailAt } = mailbox.state;
  const sinceMs = Math.max(oldUntil?.getTime() ?? 0, (newestMailAt?.getTime() ?? 0) - OUT_OF_ORDER_MS);
  const since = Math.floor(sinceMs / 1_000) - 1;
  log.warn(
    { since: new Date(sinceMs) },
    "Gmail has forgotten the history since the last look; the mails are looked through",
  );
  const isWanted = (position: MessagePosition) => {
    const at = receivedAt(position);
    return !isBeforeCursor(position, cursor) && (!at || !oldUntil || at > oldUntil);
  };
  // What comes from now on is in the history after this id, or in both.
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
    if (next >= before) max *= 2; // all of one second
    before = Math.min(before, next);
  }
  // Not before: a sync that is begun anew would look no further back than to the newest.
  await mailbox.update({ cursor: historyId }, newest);
  return historyId;
}

/** Whether nothing has become of a mail since the cursor: then it was there before. */
function isBeforeCursor({ historyId }: MessagePosition, cursor: string): boolean {
  return /^\d+$/.test(historyId ?? "") && BigInt(historyId ?? 0) <= BigInt(cursor);
}

/** In seconds; where all of them are gone by now, there is no such bound. */
async function secondAfterOldest(gmail: GmailApi, ids: readonly string[], signal: AbortSignal): Promise<number> {
  for (const id of ids.toReversed()) {
    const message = await gmail.getMessage(id, { includeBody: false }, signal);
    const at = message && receivedAt(message);
    if (at) return Math.floor(at.getTime() / 1_000) + 1;
  }
  return Number.POSITIVE_INFINITY;
}
