import type { Mapping } from "../../hooks/mappings/mapping.ts";
import type { Stores } from "../../models/stores.ts";
import type { Clock } from "../../shared/clock.ts";
import type { Config } from "../../shared/config/schema/config.ts";
import { AppError } from "../../shared/errors.ts";
import type { Logger } from "../../shared/logger.ts";
import { mappedHook } from "../../shared/queue/definitions.ts";
import type { Queues } from "../../shared/queue/producer.ts";
import type { GmailApi } from "../api/gmailApi.ts";
import type { GmailConfig } from "../api/google.ts";
import { GoogleError } from "../api/googleError.ts";
import { isSkippedMail, type Mail, readMail } from "../mail/mail.ts";
import { acceptMail, mailRunId } from "./acceptMail.ts";
import type { HeldMailbox } from "./heldMailbox.ts";

/** Where a message stands in the mailbox. */
export interface Place {
  readonly historyId?: string | null | undefined;
  readonly internalDate?: string | null | undefined;
}

/** What is kept of a message: the whole of it may have many megabytes. */
interface Fetched extends Place {
  readonly id: string;
  readonly mail: Mail;
}

export interface IntakeDeps {
  readonly stores: Stores;
  readonly queues: Queues;
  readonly clock: Clock;
  readonly log: Logger;
  readonly hooks: Config["hooks"];
  readonly mappings: readonly Mapping[];
  readonly settings: GmailConfig;
  readonly mailbox: HeldMailbox;
}

/** What became of some mails. */
export interface Taken {
  readonly runs: number;
  /** When Gmail received the newest of those that became runs. */
  readonly newestMailAt: Date | undefined;
}

/** Fetched side by side. */
const AT_ONCE = 4;
/**
 * A mail that Gmail cannot hand out so many times in a row, each time while it hands out another, is passed over; so is one
 * that cannot be worked with.
 */
const MOST_FAILURES = 10;

/** Makes runs of mails. One that is a run already is not fetched again. */
export class Intake {
  readonly #deps: IntakeDeps;
  /** Of mails that failed the last time, how often in a row it was their own fault. */
  readonly #failures = new Map<string, number>();

  constructor(deps: IntakeDeps) {
    this.#deps = deps;
  }

  /**
   * Fetches mails and writes their runs down, in their order; what cannot become a run for what it is is told and passed over.
   * @param counts of those that are no spam and such
   * @throws GoogleError; AppError unavailable; the reason of an aborted signal
   */
  async take(
    gmail: GmailApi,
    ids: readonly string[],
    signal: AbortSignal,
    counts: (place: Place) => boolean = () => true,
  ): Promise<Taken> {
    const { stores, queues, settings } = this.#deps;
    const known = await stores.runs.findExisting(ids.map((id) => mailRunId(settings.account, id)));
    const fresh = ids.filter((id) => !known.has(mailRunId(settings.account, id)));
    let runs = 0;
    let newestMailAt: Date | undefined;
    for (let i = 0; i < fresh.length; i += AT_ONCE) {
      const group = fresh.slice(i, i + AT_ONCE);
      const messages = await Promise.all(group.map((id) => this.#fetch(gmail, id, fresh, signal)));
      const accepted: string[] = [];
      for (const message of messages) {
        signal.throwIfAborted();
        if (!message || !counts(message)) continue;
        const runIds = await this.#accept(message);
        this.#failures.delete(message.id);
        if (runIds.length === 0) continue;
        accepted.push(...runIds);
        const at = receivedBy(this.#deps.clock.now(), message);
        if (at && at > (newestMailAt ?? 0)) newestMailAt = at;
      }
      await Promise.all(accepted.map((runId) => queues.add(mappedHook, { runId }, { jobId: runId })));
      runs += accepted.length;
    }
    return { runs, newestMailAt };
  }

  /** @returns the runIds; none for spam and such, and for what is passed over */
  async #accept({ id, mail }: Fetched): Promise<string[]> {
    const { settings, clock } = this.#deps;
    try {
      return isSkippedMail(mail.labelIds) ? [] : await acceptMail(this.#deps, settings.account, mail, clock.now());
    } catch (error) {
      await this.#passOverFaulty(id, error);
      return [];
    }
  }

  /** @throws the error, where that may pass */
  async #passOverFaulty(id: string, error: unknown): Promise<void> {
    const isKnown = error instanceof AppError;
    if (isKnown ? error.retry : this.#fail(id) < MOST_FAILURES) throw error;
    await this.#passOver(id, isKnown ? error.message : "It could not be read; the listener's log says why.");
  }

  /** @returns how often in a row that has been */
  #fail(id: string): number {
    const failures = (this.#failures.get(id) ?? 0) + 1;
    this.#failures.set(id, failures);
    return failures;
  }

  /** Null for one that is gone, or cannot be had. */
  async #fetch(gmail: GmailApi, id: string, others: readonly string[], signal: AbortSignal): Promise<Fetched | null> {
    const { settings } = this.#deps;
    try {
      const message = await gmail.getMessage(id, settings, signal);
      if (!message) return null;
      const { historyId, internalDate } = message;
      return { id, ...{ historyId, internalDate }, mail: readMail(message, settings) };
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof GoogleError)) await this.#passOverFaulty(id, error);
      else if (await this.#isOwnFault(gmail, id, error, others, signal)) await this.#passOver(id, error.reason);
      else throw error;
      return null;
    }
  }

  /** Whether it is this one mail that Gmail does not hand out, while all else works. */
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
    if (kind !== "passing" || status < 500) return false;
    this.#failures.set(id, this.#failures.get(id) ?? 0);
    const other = others.find((one) => !this.#failures.has(one));
    if (other === undefined) return false;
    // While all of Gmail is away, or comes back little by little, nothing counts against a mail.
    await gmail.getMessage(other, { includeBody: false }, signal);
    return this.#fail(id) >= MOST_FAILURES;
  }

  async #passOver(message: string, reason: string): Promise<void> {
    this.#failures.delete(message);
    const { stores, clock, log, mailbox, settings } = this.#deps;
    log.error({ message, reason }, "a mail cannot become a run and is passed over");
    const text = `The mail with Gmail's id ${message} could not be taken and is passed over: ${reason}`;
    const _id = `gmail-mail-${mailRunId(settings.account, message)}`;
    await stores.events.add([{ _id, text, source: "gmail", wake: false }]);
    await mailbox.note({ lastError: { at: clock.now(), reason: `A mail was passed over: ${reason}` } });
  }
}

/** When Gmail received a mail; undefined where that cannot be read. */
export function receivedAt({ internalDate }: Place): Date | undefined {
  const at = new Date(Number(internalDate ?? Number.NaN));
  return Number.isNaN(at.getTime()) ? undefined : at;
}

/** The same, but never later: mails that were brought from elsewhere may be dated in the future, for years to come. */
export function receivedBy(now: Date, place: Place): Date | undefined {
  const at = receivedAt(place);
  return at && at > now ? now : at;
}
