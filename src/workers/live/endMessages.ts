import { type LiveEnd, type LiveKey, liveMessageId } from "../../models/notifications/liveMessage.ts";
import type { Stores } from "../../models/stores.ts";
import type { Entry } from "../notify/notification.ts";
import { matchesWhere, type Rule } from "../notify/rule.ts";

/** The messages that follow the jobs of notifications, by the ids of their rules. */
export type EndedMessages = ReadonlyMap<Entry, ReadonlyMap<string, string>>;

/**
 * Ends the messages that follow the jobs of a page of notifications, so that no later edit takes the place of the end. A job whose
 * message is not sent yet gets none.
 * @returns the messages that the deliveries of the ends edit
 * @throws AppError unavailable
 */
export async function endMessages(
  { stores, rules }: { readonly stores: Pick<Stores, "liveMessages">; readonly rules: readonly Rule[] },
  entries: readonly Entry[],
): Promise<EndedMessages> {
  const live = rules.filter(({ isLive }) => isLive);
  const ends = live.flatMap((rule) => entries.flatMap((entry) => endOf(rule, entry)));
  const begun = await stores.liveMessages.end(ends.map(({ end }) => end));
  const found = new Map<Entry, Map<string, string>>();
  for (const { entry, rule, end } of ends) {
    if (!begun.has(end._id)) continue;
    found.set(entry, (found.get(entry) ?? new Map()).set(rule.id, end._id));
  }
  return found;
}

interface RuleEnd {
  readonly entry: Entry;
  readonly rule: Rule;
  readonly end: LiveEnd;
}

function endOf(rule: Rule, entry: Entry): RuleEnd[] {
  const { record, notification } = entry;
  const { type, facts, onlyRule, id: by, at } = notification;
  if (record.kind !== "job" || onlyRule !== undefined || !rule.on.has(type) || !matchesWhere(rule, facts)) return [];
  const { _id: job, jobId, name } = record.job;
  const { channel = "", to = "" } = rule.to;
  const _id = liveMessageId(...([rule.id, channel, to.trim(), job.toHexString()] satisfies LiveKey));
  return [{ entry, rule, end: { _id, job, jobId, name: name ?? jobId, by, at } }];
}
