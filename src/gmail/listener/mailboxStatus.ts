import { isLeased, type MailboxDoc, type MailboxPart } from "../../models/gmailMailbox.ts";
import { ownCommand } from "../../shared/process/ownCommands.ts";
import type { GmailConfig } from "../api/google.ts";

/** The state of listening to a mailbox. Times are null if the event has not happened yet. */
export interface MailboxStatus {
  /** One sentence for each problem, with its remedy; empty if there are none. */
  readonly problems: readonly string[];
  readonly account: string;
  /** The listening process as `host:pid`. */
  readonly listener: string | null;
  /** Seconds since the last complete listing: each mail received earlier has become a run. */
  readonly lagSeconds: number | null;
  readonly listedAt: Date | null;
  readonly lastMailAt: Date | null;
  readonly lastNoticeAt: Date | null;
  /** When Gmail stops sending notifications. */
  readonly watchExpiresAt: Date | null;
  readonly faults: Readonly<Record<MailboxPart, { readonly since: Date; readonly reason: string } | null>>;
  readonly lastError: MailboxDoc["lastError"];
}

/** How long a transient fault may last before it counts as a problem. */
const PATIENCE_MS = 10 * 60_000;

const START = `start Signalbox with \`${ownCommand("start")}\`, apply hooks.gmail to a running one with \`signalbox reload\`, or run \`signalbox webhooks gmail run\` beside web and worker`;
const SET_UP = "run `signalbox webhooks gmail setup` again";

const FAILING: Readonly<Record<MailboxPart, string>> = {
  mails: "New mails cannot be read",
  notices: "Notifications of new mails cannot be pulled",
  watch: "The watch on the mailbox cannot be renewed",
};

/** Returns the state of a mailbox. @param found the mailbox's document; null if no process has listened yet */
export function mailboxStatus(settings: GmailConfig, found: MailboxDoc | null, now: Date): MailboxStatus {
  const { account } = settings;
  const listener = found?.lease && isLeased(found, now) ? found.lease.holder : null;
  const none = { mails: null, notices: null, watch: null };
  const { listedAt = null, lastMailAt = null, lastNoticeAt = null, lastError = null, faults = none } = found ?? {};
  return {
    problems: found
      ? problemsOf(settings, found, listener, now)
      : [`No process has listened to ${account} yet: ${START}.`],
    account,
    listener,
    listedAt,
    lastMailAt,
    lastNoticeAt,
    lastError,
    lagSeconds: listedAt && Math.max(0, Math.round((now.getTime() - listedAt.getTime()) / 1_000)),
    watchExpiresAt: found?.watch?.expiresAt ?? null,
    faults: { mails: shown(faults.mails), notices: shown(faults.notices), watch: shown(faults.watch) },
  };
}

const shown = (fault: MailboxDoc["faults"][MailboxPart]) => fault && { since: fault.since, reason: fault.reason };

function problemsOf(settings: GmailConfig, mailbox: MailboxDoc, listener: string | null, now: Date): string[] {
  const { topic, pollEveryMinutes } = settings;
  const { faults, listedAt, watch } = mailbox;
  const problems = (Object.keys(FAILING) as MailboxPart[]).flatMap((part) => {
    const fault = faults[part];
    if (!fault) return [];
    const what = `${FAILING[part]} since ${fault.since.toISOString()}: ${fault.reason}`;
    if (fault.isLasting) return [`${what} To fix it, ${SET_UP}.`];
    const isLong = now.getTime() - fault.since.getTime() > PATIENCE_MS;
    return isLong ? [`${what} The listener keeps retrying; check that this machine can reach Google and MongoDB.`] : [];
  });
  if (!listener) problems.unshift(`No process listens to the mailbox: ${START}.`);
  const isLate = !listedAt || now.getTime() - listedAt.getTime() > pollEveryMinutes * 3 * 60_000;
  if (isLate && listener && !faults.mails) {
    problems.push(
      `The mailbox was last listed ${listedAt?.toISOString() ?? "never"}: the log of the listener has the reason.`,
    );
  }
  if (topic !== undefined && listener && !faults.watch && !(watch && watch.expiresAt > now)) {
    problems.push("Gmail sends no notifications, because it has no watch: the log of the listener has the reason.");
  }
  return problems;
}
