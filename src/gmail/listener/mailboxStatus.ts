import { isLeased, type MailboxDoc, type MailboxPart } from "../../models/gmailMailbox.ts";
import { ownCommand } from "../../shared/process/ownCommands.ts";
import type { Mailbox } from "../../wire/channel.ts";
import type { GmailConfig } from "../api/google.ts";

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
export function mailboxStatus(settings: GmailConfig, found: MailboxDoc | null, now: Date): Mailbox {
  const { account } = settings;
  const listener = found?.lease && isLeased(found, now) ? found.lease.holder : null;
  const none = { mails: null, notices: null, watch: null };
  const { listedAt = null, lastMailAt = null, lastNoticeAt = null, lastError = null, faults = none } = found ?? {};
  const problems = found
    ? problemsOf(settings, found, listener, now)
    : [`No process has listened to ${account} yet: ${START}.`];
  return {
    ok: problems.length === 0,
    problems,
    account,
    listener,
    listedAt: iso(listedAt),
    lastMailAt: iso(lastMailAt),
    lastNoticeAt: iso(lastNoticeAt),
    lastError: lastError && { at: lastError.at.toISOString(), reason: lastError.reason },
    lagSeconds: listedAt && Math.max(0, Math.round((now.getTime() - listedAt.getTime()) / 1_000)),
    watchExpiresAt: iso(found?.watch?.expiresAt),
    faults: { mails: shown(faults.mails), notices: shown(faults.notices), watch: shown(faults.watch) },
  };
}

const iso = (time: Date | null | undefined): string | null => time?.toISOString() ?? null;

const shown = (fault: MailboxDoc["faults"][MailboxPart]) =>
  fault && { since: fault.since.toISOString(), reason: fault.reason };

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
