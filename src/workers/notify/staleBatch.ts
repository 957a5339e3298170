import type { Note } from "../../models/notifications/note.ts";
import type { NotedRecord } from "../../models/notifications/outbox.ts";
import { admit, applyRule, type DispatchDeps, hasAnnounced, type RecordedEvent, sendText, urlOf } from "./dispatch.ts";
import { eventText, heldText, type SilenceType, summaryText } from "./eventText.ts";
import { eventTitle, summaryTitle } from "./eventTitle.ts";
import { type NotifyEvent, readEvent } from "./notifyEvent.ts";
import { matchesWhere, type Rule } from "./rule.ts";

/** Maximum stale jobs of one scan for which chats get a message each. */
export const MAX_SINGLE = 20;
/** Maximum events that are dispatched concurrently. */
const CONCURRENCY = 50;

/** The events of a batch that chats get together, for one rule. */
interface Group {
  readonly rule: Rule;
  readonly type: SilenceType;
  readonly events: RecordedEvent[];
  /** Events that were held back before. */
  held: number;
}

/**
 * Dispatches the notes of jobs that were found stale by one scan, and of those among them that are reported again. Webhooks
 * get each event, and chats and the main session one message. The notes are removed when all messages are stored, so that a
 * repetition after a crash finds all of them.
 * @throws AppError unavailable
 */
export async function dispatchBatch(deps: DispatchDeps, batch: string): Promise<void> {
  const groups = new Map<string, Group>();
  const done: { jobId: string; noteId: string }[] = [];
  const dispatchAll = async (page: readonly [NotedRecord, Note][]) => {
    const events = page.map(async ([record, note]) => ({ record, event: await readEvent(deps.stores, record, note) }));
    const recorded = await Promise.all(events);
    await Promise.all(recorded.map((one) => sendSingly(deps, one)));
    for (const one of recorded) await addToGroups(deps, groups, batch, one);
    done.push(...page.map(([{ source }, { id }]) => ({ jobId: source.id, noteId: id })));
  };
  let page: [NotedRecord, Note][] = [];
  for await (const record of deps.stores.outbox.listBatch(batch)) {
    page.push(...record.notes.map((note): [NotedRecord, Note] => [record, note]));
    if (page.length < CONCURRENCY) continue;
    await dispatchAll(page);
    page = [];
  }
  await dispatchAll(page);
  for (const group of groups.values()) await sendGroup(deps, group, batch);
  for (let i = 0; i < done.length; i += 1_000) {
    const part = done.slice(i, i + 1_000);
    await deps.stores.outbox.removeOfJobs(
      part.map(({ jobId }) => jobId),
      part.map(({ noteId }) => noteId),
    );
  }
}

const isChat = ({ to }: Rule): boolean => to.webhook === undefined;

/** Sends an event by the rules with a webhook. */
async function sendSingly(deps: DispatchDeps, recorded: RecordedEvent): Promise<void> {
  for (const rule of deps.rules) if (!isChat(rule)) await applyRule(deps, rule, recorded);
}

async function addToGroups(
  deps: DispatchDeps,
  groups: Map<string, Group>,
  batch: string,
  recorded: RecordedEvent,
): Promise<void> {
  const { event } = recorded;
  const type = event.type as SilenceType;
  for (const rule of deps.rules.filter(isChat)) {
    if (!rule.on.has(type) || !matchesWhere(rule, event.facts)) continue;
    const key = `${rule.id} ${type}`;
    const group = groups.get(key) ?? { rule, type, events: [], held: 0 };
    // Jobs of one name are one subject, which the whole batch counts once.
    const held = type === "job.stale" ? await admit(deps, rule, event, batch) : 0;
    if (held === null) continue;
    group.held += held;
    group.events.push(recorded);
    groups.set(key, group);
  }
}

async function sendGroup(deps: DispatchDeps, { rule, type, events, held }: Group, batch: string): Promise<void> {
  if (type === "job.recovered") return sendRecovered(deps, rule, events, batch);
  await sendMessage(deps, rule, { id: batch, type }, events, held);
}

/** Sends that jobs are reported again: in one message if they are many. */
async function sendRecovered(
  deps: DispatchDeps,
  rule: Rule,
  events: readonly RecordedEvent[],
  batch: string,
): Promise<void> {
  if (events.length <= MAX_SINGLE) {
    for (const recorded of events) await applyRule(deps, rule, recorded);
    return;
  }
  const [first] = events;
  if (!first || !(await hasAnnounced(deps.stores, rule, first.event))) return;
  // Others may join them after a crash, and get a message too.
  const id = `${batch}-${first.event.id}-${events.length}`;
  await sendMessage(deps, rule, { id, type: "job.recovered" }, events, 0);
}

async function sendMessage(
  deps: DispatchDeps,
  rule: Rule,
  event: { readonly id: string; readonly type: SilenceType },
  recorded: readonly RecordedEvent[],
  held: number,
): Promise<void> {
  const events: NotifyEvent[] = recorded.map((one) => one.event);
  const [first] = events;
  if (!first) return;
  const isOne = events.length === 1;
  const link = urlOf(deps, isOne ? first : { path: "/" });
  const text = isOne ? eventText(first, rule.template, link) : summaryText(event.type, events, link);
  const title = isOne ? eventTitle(first) : summaryTitle(event.type, events.length);
  await sendText(deps, rule, event, { text: text + heldText(held), title, link });
}
