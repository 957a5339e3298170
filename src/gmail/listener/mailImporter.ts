import type { Config } from "../../config/config.ts";
import type { Mapping } from "../../hooks/mappings/mapping.ts";
import type { Stores } from "../../models/stores.ts";
import type { Clock } from "../../shared/clock.ts";
import { AppError } from "../../shared/errors.ts";
import type { Logger } from "../../shared/logger.ts";
import { mappedHook } from "../../shared/queue/definitions.ts";
import type { Queues } from "../../shared/queue/producer.ts";
import type { GmailApi } from "../api/gmailApi.ts";
import type { GmailConfig } from "../api/google.ts";
import { GoogleError } from "../api/googleError.ts";
import { isSkippedMail, type Mail, readMail } from "../mail/mail.ts";
import { acceptMail, mailRunId } from "./acceptMail.ts";
import type { LeasedMailbox } from "./leasedMailbox.ts";

/** The position of a message in the mailbox's history and time. */
export interface MessagePosition {
  readonly historyId?: string | null | undefined;
  readonly internalDate?: string | null | undefined;
}

/** The parts of a message that are kept in memory, as the whole may have many megabytes. */
interface Fetched extends MessagePosition {
  readonly id: string;
  readonly mail: Mail;
}

export interface MailImporterDeps {
  readonly stores: Stores;
  readonly queues: Queues;
  readonly clock: Clock;
  readonly log: Logger;
  readonly hooks: Config["hooks"];
  readonly mappings: readonly Mapping[];
  readonly settings: GmailConfig;
  readonly mailbox: LeasedMailbox;
}

/** The result of importing mails. */
export interface ImportResult {
  readonly runs: number;
  /** When Gmail received the newest mail that became a run. */
  readonly newestMailAt: Date | undefined;
}

/** Number of mails fetched concurrently. */
const FETCH_CONCURRENCY = 4;
/**
 * Consecutive failures after which a mail is skipped. Failures to fetch count only while Gmail returns other mails; failures
 * to process always count.
 */
const MAX_FAILURES = 10;

/** Creates runs from mails. Does not fetch mails that already have runs. */
export class MailImporter {
  readonly #deps: MailImporterDeps;
  /** Consecutive failures caused by the mail itself, by id of the mail. */
  readonly #failures = new Map<string, number>();

  constructor(deps: MailImporterDeps) {
    this.#deps = deps;
  }

  /**
   * Fetches mails, stores their runs in order and enqueues them. Reports and skips mails that can never become runs.
   * @param isWanted applied before spam, drafts and the like are excluded
   * @throws GoogleError; AppError unavailable; the reason of an aborted signal
   */
  async importMails(
    gmail: GmailApi,
    ids: readonly string[],
    signal: AbortSignal,
    isWanted: (position: MessagePosition) => boolean = () => true,
  ): Promise<ImportResult> {
    const { stores, queues, settings } = this.#deps;
    const importedIds = await stores.runs.findExisting(ids.map((id) => mailRunId(settings.account, id)));
    const fresh = ids.filter((id) => !importedIds.has(mailRunId(settings.account, id)));
    let runs = 0;
    let newestMailAt: Date | undefined;
    for (let i = 0; i < fresh.length; i += FETCH_CONCURRENCY) {
      const group = fresh.slice(i, i + FETCH_CONCURRENCY);
      const messages = await Promise.all(group.map((id) => this.#fetch(gmail, id, fresh, signal)));
      const accepted: string[] = [];
      for (const message of messages) {
        signal.throwIfAborted();
        if (!message || !isWanted(message)) continue;
        const runIds = await this.#accept(message);
        this.#failures.delete(message.id);
        if (runIds.length === 0) continue;
        accepted.push(...runIds);
        const at = receivedAtOrNow(this.#deps.clock.now(), message);
        if (at && at > (newestMailAt ?? 0)) newestMailAt = at;
      }
      await Promise.all(accepted.map((runId) => queues.add(mappedHook, { runId }, { jobId: runId })));
      runs += accepted.length;
    }
    return { runs, newestMailAt };
  }

  /** Stores the runs of a mail and returns their ids; none for spam, drafts and the like, and for a skipped mail. */
  async #accept({ id, mail }: Fetched): Promise<string[]> {
    const { settings, clock } = this.#deps;
    try {
      return isSkippedMail(mail.labelIds) ? [] : await acceptMail(this.#deps, settings.account, mail, clock.now());
    } catch (error) {
      await this.#skipUnlessTransient(id, error);
      return [];
    }
  }

  /** Skips a mail that cannot be processed. @throws the error if it may be transient */
  async #skipUnlessTransient(id: string, error: unknown): Promise<void> {
    const isAppError = error instanceof AppError;
    if (isAppError ? error.retry : this.#countFailure(id) < MAX_FAILURES) throw error;
    await this.#skip(id, isAppError ? error.message : "It could not be read; the log of the listener has the reason.");
  }

  /** Counts a failure and returns the number of consecutive ones. */
  #countFailure(id: string): number {
    const failures = (this.#failures.get(id) ?? 0) + 1;
    this.#failures.set(id, failures);
    return failures;
  }

  /** Fetches a mail; returns null if it no longer exists or is skipped. */
  async #fetch(gmail: GmailApi, id: string, others: readonly string[], signal: AbortSignal): Promise<Fetched | null> {
    const { settings } = this.#deps;
    try {
      const message = await gmail.getMessage(id, settings, signal);
      if (!message) return null;
      const { historyId, internalDate } = message;
      return { id, historyId, internalDate, mail: readMail(message, settings) };
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof GoogleError)) await this.#skipUnlessTransient(id, error);
      else if (await this.#isOwnFault(gmail, id, error, others, signal)) await this.#skip(id, error.reason);
      else throw error;
      return null;
    }
  }

  /** Returns whether Gmail fails for this mail only, so that the mail should be skipped. */
  async #isOwnFault(
    gmail: GmailApi,
    id: string,
    { kind, status = 0 }: GoogleError,
    others: readonly string[],
    signal: AbortSignal,
  ): Promise<boolean> {
    if (kind === "refused" && status !== 403) {
      await gmail.getProfile(signal);
      return true;
    }
    if (kind !== "transient" || status < 500) return false;
    this.#failures.set(id, this.#failures.get(id) ?? 0);
    const other = others.find((one) => !this.#failures.has(one));
    if (other === undefined) return false;
    // This throws during an outage of Gmail, so that failures do not count against the mail.
    await gmail.getMessage(other, { includeBody: false }, signal);
    return this.#countFailure(id) >= MAX_FAILURES;
  }

  async #skip(message: string, reason: string): Promise<void> {
    this.#failures.delete(message);
    const { stores, clock, log, mailbox, settings } = this.#deps;
    log.error({ message, reason }, "a mail cannot start a run and is skipped");
    const text = `The mail with Gmail's id ${message} could not be read and is skipped: ${reason}`;
    const _id = `gmail-mail-${mailRunId(settings.account, message)}`;
    await stores.mainEvents.add([{ _id, text, source: "gmail", wake: false }]);
    await mailbox.update({ lastError: { at: clock.now(), reason: `A mail was skipped: ${reason}` } });
  }
}

/** Returns when Gmail received a mail; undefined if the date is invalid. */
export function receivedAt({ internalDate }: MessagePosition): Date | undefined {
  const at = new Date(Number(internalDate ?? Number.NaN));
  return Number.isNaN(at.getTime()) ? undefined : at;
}

/** Like `receivedAt`, but never later than `now`: imported mails may be dated years in the future. */
export function receivedAtOrNow(now: Date, position: MessagePosition): Date | undefined {
  const at = receivedAt(position);
  return at && at > now ? now : at;
}
