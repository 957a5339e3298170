import type { Agents } from "../../config/agents/agents.ts";
import { MAX_DEPTH } from "../../models/notes/depth.ts";
import type { Note } from "../../models/notes/note.ts";
import type { Decision } from "../../models/notifications/alert.ts";
import type { AlertChanges } from "../../models/notifications/alertChanges.ts";
import { alertKey } from "../../models/notifications/alerts.ts";
import type { DispatchedNote, NotedRecord } from "../../models/notifications/outbox.ts";
import { AppError } from "../../shared/errors.ts";
import type { Queues } from "../../shared/queue/producer.ts";
import { type EndedMessages, endMessages } from "../live/endMessages.ts";
import { resumeRuns } from "../runs/budgets.ts";
import type { Processor } from "../runWorkers.ts";
import { type Entry, type Notification, readNotification } from "./notification.ts";
import { notificationTitle } from "./notificationTitle.ts";
import { addReturns, type ReturnDeps } from "./returns.ts";
import { matchesWhere, type Rule } from "./rule.ts";
import { type SendDeps, send, sendCallback, sendSummary } from "./send.ts";

/** Maximum notifications that are read and sent concurrently: a page, whose deliveries are stored by one command. */
const CONCURRENCY = 100;
/** The same if a rule includes parts of the record: then a body may take 4 MB. */
const CONCURRENCY_WITH_PARTS = 10;
/** Maximum reads of the alerts of a page that other processes change at the same time. */
const MAX_ATTEMPTS = 20;
/** How often questions are looked for while other notifications are dispatched: people are waiting for each other. */
const QUESTIONS_EVERY_MS = 1_000;

/** The dependencies of the dispatch of notifications. */
export interface DispatchDeps extends SendDeps, ReturnDeps {
  /** The agents whose runners and models traces name; undefined while none are sent. */
  readonly traces?: Agents | undefined;
  /** The pause before a failed notification is tried again. */
  readonly retryMs: number;
  readonly queues: Pick<Queues, "add">;
}

/** A rule that sends a notification, with the number of notifications that were held back or dropped before it. */
interface Taken {
  readonly rule: Rule;
  readonly held: number;
}

/**
 * Turns all notes into deliveries and into runs of the sessions that jobs wake, page by page, and removes them. It may run twice for the same notes, also in two processes at
 * once: decisions about a notification are stored with its id, and ids of deliveries are derived from notification and rule.
 *
 * A note whose dispatch fails delays no other. It is tried again after a while, and set aside after the last try.
 * @param stopping aborts when the process stops
 * @returns the number of dispatched notes
 * @throws AppError unavailable
 */
export async function dispatchAll(deps: DispatchDeps, stopping?: AbortSignal): Promise<number> {
  const { outbox } = deps.stores;
  let total = 0;
  for (let count = 1; count > 0 && !stopping?.aborted; total += count) {
    count = 0;
    let lookAt = 0;
    for await (const page of outbox.listPages()) {
      if (performance.now() >= lookAt) {
        const questions = await outbox.findQuestions();
        count += await dispatchPage(deps, questions, ({ type }) => type === "gate.opened");
        lookAt = performance.now() + QUESTIONS_EVERY_MS;
      }
      count += await dispatchPage(deps, page);
      if (stopping?.aborted) break;
    }
  }
  await dispatchSummaries(deps);
  return total;
}

/** Sends the summaries that are due. One that fails delays no other. */
async function dispatchSummaries(deps: DispatchDeps): Promise<void> {
  const { log, metrics } = deps;
  const { alerts } = deps.stores;
  const changes = await alerts.openDue(deps.clock.now());
  if (!(await alerts.save(changes))) return; // the scan triggers it again
  for (const { _id, summary } of changes.summaries) {
    const [ruleId] = JSON.parse(_id) as [string];
    const rule = deps.rules.find(({ id }) => id === ruleId);
    try {
      if (rule) await sendSummary(deps, rule, summary);
      await alerts.removeSummary({ _id }, summary);
    } catch (error) {
      if (error instanceof AppError && error.code === "unavailable") throw error;
      const isOver = await alerts.countFailure({ _id }, summary);
      if (isOver) metrics.notificationsFailed.inc({ type: summary.type });
      log.error({ rule: ruleId, err: error }, `a summary could not be sent${isOver ? " and was set aside" : ""}`);
    }
  }
}

/** @returns the number of dispatched notes */
async function dispatchPage(
  deps: DispatchDeps,
  records: readonly NotedRecord[],
  isWanted: (note: Note) => boolean = () => true,
): Promise<number> {
  const before = new Date(deps.clock.now().getTime() - deps.retryMs);
  const isDue = ({ triedAt }: Note) => triedAt === undefined || triedAt <= before;
  const due = records.flatMap((record) =>
    record.notes
      .filter(
        (note) =>
          isDue(note) &&
          isWanted(note) &&
          !record.notes.some(({ id }, i) => id === note.stale && !isDue(record.notes[i] as Note)),
      )
      .map((note) => ({ record, note })),
  );
  const entries: Entry[] = [];
  const dispatched: DispatchedNote[] = [];
  await eachOf(deps, due, async ({ record, note }) => {
    await orCountFailure(deps, { record, note }, async () => {
      entries.push({ record, note, notification: await readNotification(deps.stores, record, note) });
    });
  });
  entries.sort((a, b) => a.note.at.getTime() - b.note.at.getTime());
  const live = await endMessages(deps, entries);
  const taken = await decideAll(deps, entries, live);
  const notReturned = await addReturns(deps, entries);
  // Without traces the module is not loaded.
  const notTraced = deps.traces
    ? await (await import("../traces/addTraces.ts")).addTraces({ ...deps, agents: deps.traces }, entries)
    : undefined;
  await eachOf(deps, entries, async (entry) => {
    const { record, note, notification } = entry;
    await orCountFailure(deps, entry, async () => {
      const outcome = taken.get(entry) as Outcome | { readonly error: unknown };
      if ("error" in outcome) throw outcome.error;
      if (notReturned.has(entry)) throw notReturned.get(entry);
      const { gate } = notification.data;
      if (gate && gate.status !== "open") await resumeRuns(deps, gate.gateId);
      if (notTraced?.has(entry)) throw notTraced.get(entry);
      const { sent, announcedBy } = outcome;
      for (const { rule, held } of sent)
        await send(deps, rule, { notification, record }, held, live.get(entry)?.get(rule.id));
      if (notification.callbackUrl !== undefined) await sendCallback(deps, notification, notification.callbackUrl);
      dispatched.push({ source: record.source, id: note.id, announcedBy });
    });
  });
  await deps.stores.outbox.remove(dispatched);
  return dispatched.length;
}

/** Dispatches a note as far as `act` does. A failure of the note is counted, so that the others go on. */
async function orCountFailure(
  { stores, metrics, log }: DispatchDeps,
  { record, note }: Pick<Entry, "record" | "note">,
  act: () => Promise<void>,
): Promise<void> {
  try {
    await act();
  } catch (error) {
    if (error instanceof AppError && error.code === "unavailable") throw error;
    const { id: event, type, tries = 0 } = note;
    const what = { event, type, tries: tries + 1, err: error };
    if (!(await stores.outbox.countFailure(record.source, note, String(error)))) {
      log.error(what, "an event could not be dispatched; it is tried again");
      return;
    }
    metrics.notificationsFailed.inc({ type });
    log.error(what, "an event could not be dispatched and was set aside");
  }
}

async function eachOf<T>({ rules }: DispatchDeps, items: readonly T[], act: (item: T) => Promise<void>): Promise<void> {
  const hasParts = rules.some(({ to }) => (to.webhook?.include.length ?? 0) > 0);
  const size = hasParts ? CONCURRENCY_WITH_PARTS : CONCURRENCY;
  for (let i = 0; i < items.length; i += size) await Promise.all(items.slice(i, i + size).map(act));
}

/** The rules that send a notification now, and for `job.stale` also those that list it in a summary. */
interface Outcome {
  readonly sent: readonly Taken[];
  readonly announcedBy: readonly string[] | undefined;
}

/** Decides about the notifications of a page, and stores the decisions before anything is sent. */
async function decideAll(
  deps: DispatchDeps,
  entries: readonly Entry[],
  live: EndedMessages,
): Promise<Map<Entry, Outcome | { readonly error: unknown }>> {
  const { alerts } = deps.stores;
  const keys = entries.flatMap(({ notification }) => deps.rules.flatMap((rule) => keysOf(rule, notification)));
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
    const changes = await alerts.open(keys);
    const page = new PageDecisions(deps, changes, live);
    const outcomes = new Map(entries.map((entry) => [entry, page.tryDecide(entry)]));
    if (await alerts.save(changes)) return outcomes;
  }
  throw new AppError("unavailable", { detail: "Other processes changed the same alerts again and again." });
}

/** Returns the keys of the alerts that decide whether a rule sends a notification. */
function keysOf(rule: Rule, notification: Notification): string[] {
  const { subject, type } = notification;
  if (notification.onlyRule !== undefined || !matchesWhere(rule, notification.facts)) return [];
  const isHandled = rule.on.has(type);
  if (!isHandled && !endsFailures(rule, notification)) return [];
  return [
    ...(rule.after > 1 || rule.cooldownMs > 0 ? [alertKey(rule.id, subject)] : []),
    ...(isHandled && !rule.to.webhook ? [minuteKey(rule, notification)] : []),
  ];
}

const endsFailures = (rule: Rule, { type }: Notification) => type === "job.completed" && rule.after > 1;

/** Questions have a minute of their own, because nobody can answer one in a summary. */
const minuteKey = (rule: Rule, { type }: Notification) =>
  alertKey(rule.id, null, { isQuestion: type === "gate.opened" });

/** Decides about the notifications of one page, in the order in which they happened. */
class PageDecisions {
  readonly #deps: DispatchDeps;
  readonly #changes: AlertChanges;
  readonly #live: EndedMessages;
  /** The rules that announce each silence. */
  readonly #announced = new Map<string, readonly string[]>();
  /** The number of dropped notifications of each record that a rule has not mentioned yet. */
  readonly #dropped = new Map<string, number>();

  constructor(deps: DispatchDeps, changes: AlertChanges, live: EndedMessages) {
    this.#deps = deps;
    this.#changes = changes;
    this.#live = live;
  }

  /** Never throws, because a notification that cannot be decided about delays no other. */
  tryDecide(entry: Entry): Outcome | { readonly error: unknown } {
    try {
      return this.#decide(entry);
    } catch (error) {
      return { error };
    }
  }

  #decide(entry: Entry): Outcome {
    const { notification, note } = entry;
    const sent: Taken[] = [];
    const announcedBy: string[] = [];
    for (const rule of this.#deps.rules) {
      const decision = this.#decideBy(rule, entry);
      if (decision?.kind === "send") sent.push({ rule, held: decision.held });
      if (decision?.kind === "send" || decision?.kind === "listed") announcedBy.push(rule.id);
    }
    if (notification.type !== "job.stale") return { sent, announcedBy: undefined };
    this.#announced.set(note.id, announcedBy);
    return { sent, announcedBy };
  }

  #decideBy(rule: Rule, entry: Entry): Pick<Decision, "kind" | "held"> | undefined {
    const { notification, note, record } = entry;
    if (notification.onlyRule !== undefined)
      return notification.onlyRule === rule.id ? { kind: "send", held: 0 } : undefined;
    const source = `${rule.id} ${JSON.stringify(record.source)}`;
    const dropped = (this.#dropped.get(source) ?? 0) + (note.dropped ?? 0);
    this.#dropped.set(source, dropped);
    const isHandled = rule.on.has(notification.type);
    if (!matchesWhere(rule, notification.facts) || !(isHandled || endsFailures(rule, notification))) return undefined;
    const announcedBy = note.rules ?? this.#announced.get(note.stale ?? "") ?? [];
    if (notification.type === "job.recovered" && !announcedBy.includes(rule.id)) return undefined;
    if (notification.type === "job.slow" && !note.rules?.includes(rule.id)) return undefined;
    this.#dropped.set(source, 0);
    const { id, type, at, subject, depth } = notification;
    const { after, cooldownMs } = rule;
    let held = dropped;
    if (depth >= MAX_DEPTH) return isHandled ? { kind: "send", held } : undefined; // as a failed delivery
    if (after > 1 || cooldownMs > 0) {
      const limits = { after, cooldownMs, count: 1 + dropped, isUnhandled: !isHandled };
      const decision = this.#changes.decide(alertKey(rule.id, subject), { id, type, at, ...limits });
      if (decision.kind !== "send") return decision;
      held = decision.held;
    }
    // The end of a message that follows a job is an edit, which no summary can stand for.
    if (rule.to.webhook || this.#live.get(entry)?.has(rule.id)) return { kind: "send", held };
    const listed = { name: notificationTitle(notification), held, depth, now: this.#deps.clock.now() };
    return this.#changes.admit(minuteKey(rule, notification), { id, type }, listed);
  }
}

/** Returns the processor that turns the notes of all records into deliveries. The scan triggers it again if it fails. */
export function notifyProcessor(deps: DispatchDeps): Processor {
  return async (_, { signal }) => {
    const events = await dispatchAll(deps, signal);
    return { kind: "done", result: { events }, isIdle: events === 0 };
  };
}
