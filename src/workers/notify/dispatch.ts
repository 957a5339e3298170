import { type AddedDelivery, type DeliverySettings, resolveTarget } from "../../models/deliveries/addDelivery.ts";
import { type DeliveredEvent, deliveryIdOf, type NewDelivery } from "../../models/deliveries/delivery.ts";
import { answerUrl } from "../../models/gates/answerLinks.ts";
import type { Note } from "../../models/notifications/note.ts";
import type { NotedRecord, NotedSource } from "../../models/notifications/outbox.ts";
import type { Stores } from "../../models/stores.ts";
import type { WorkerMetrics } from "../metrics.ts";
import { eventText, heldText } from "./eventText.ts";
import { eventTitle } from "./eventTitle.ts";
import { withIncluded } from "./included.ts";
import { type NotifyEvent, readEvent } from "./notifyEvent.ts";
import { matchesWhere, type Rule } from "./rule.ts";
import { webhookBody } from "./webhookBody.ts";

export interface DispatchDeps {
  readonly stores: Stores;
  readonly rules: readonly Rule[];
  readonly delivery: DeliverySettings;
  /** The address under which people reach the service; messages have no links without it. */
  readonly publicUrl: string | undefined;
  readonly metrics: WorkerMetrics;
  /** Enqueues a delivery. */
  deliver(added: AddedDelivery): Promise<void>;
  triggerHeartbeat(): Promise<void>;
}

/** An event and the record that it is about. */
export interface RecordedEvent {
  readonly event: NotifyEvent;
  readonly record: NotedRecord;
}

/**
 * Turns the notes of a record into deliveries, then removes them. It may run twice for the same notes: the ids of deliveries are
 * derived from event and rule. Notes that belong to a batch are left to the scan, unless their job was deleted.
 * @returns the number of dispatched notes
 * @throws AppError unavailable
 */
export async function dispatchNotes(deps: DispatchDeps, source: NotedSource): Promise<number> {
  const record = await deps.stores.outbox.find(source);
  const isDeleted = record?.kind === "job" && record.isDeleted;
  const notes = record?.notes.filter(({ batch }) => batch === undefined || isDeleted) ?? [];
  if (!record || notes.length === 0) return 0;
  for (const note of notes) await dispatchNote(deps, record, note);
  await deps.stores.outbox.remove(
    source,
    notes.map(({ id }) => id),
  );
  return notes.length;
}

async function dispatchNote(deps: DispatchDeps, record: NotedRecord, note: Note): Promise<void> {
  const event = await readEvent(deps.stores, record, note);
  for (const rule of deps.rules) await applyRule(deps, rule, { event, record });
  if (event.callbackUrl !== undefined) await sendCallback(deps, event, event.callbackUrl);
}

/** Sends an event by a rule if the rule handles it and its limits permit it. */
export async function applyRule(deps: DispatchDeps, rule: Rule, recorded: RecordedEvent): Promise<void> {
  const { event } = recorded;
  const { alerts } = deps.stores;
  if (event.onlyRule !== undefined) {
    if (event.onlyRule === rule.id) await send(deps, rule, recorded, 0);
    return;
  }
  if (!matchesWhere(rule, event.facts)) return;
  if (!rule.on.has(event.type)) {
    if (event.type === "job.completed" && rule.after > 1) await alerts.endFailures(rule.id, event.subject);
    return;
  }
  if (event.type === "job.recovered" && !(await hasAnnounced(deps.stores, rule, event))) return;
  const held = await admit(deps, rule, event, event.id);
  if (held !== null) await send(deps, rule, recorded, held);
}

/**
 * Counts an event about its subject.
 * @param eventId the id under which it is counted: that of the event, or of a batch of events
 * @returns the number of events that were held back before it, or null if it is held back itself
 */
export async function admit(
  { stores }: DispatchDeps,
  { id: rule, after, cooldownMs }: Rule,
  { type, at, subject }: NotifyEvent,
  eventId: string,
): Promise<number | null> {
  if (after === 1 && cooldownMs === 0) return 0;
  const { kind, held } = await stores.alerts.decide(rule, subject, { id: eventId, type, at, after, cooldownMs });
  return kind === "send" ? held : null;
}

/** Returns whether the rule has sent that the job was stale, by itself or with others. */
export async function hasAnnounced({ deliveries }: Stores, rule: Rule, event: NotifyEvent): Promise<boolean> {
  const ids = event.announcedBy.map((eventId) => deliveryIdOf(eventId, rule.id));
  return (await deliveries.findMany(ids)).length > 0;
}

async function send(deps: DispatchDeps, rule: Rule, { event, record }: RecordedEvent, held: number): Promise<void> {
  if (rule.to.webhook) return sendWebhook(deps, rule, { event, record }, held);
  const link = await linkOf(deps, rule, event);
  const text = eventText(event, rule.template, link) + heldText(held);
  return sendText(deps, rule, { id: event.id, type: event.type }, { text, title: eventTitle(event), link });
}

/** Sends a text to the chat or the main session of a rule. */
export async function sendText(
  deps: DispatchDeps,
  rule: Rule,
  event: Pick<NotifyEvent, "id" | "type">,
  { text, title, link }: { readonly text: string; readonly title: string; readonly link: string | undefined },
): Promise<void> {
  const { stores } = deps;
  const { channel, to = null, wake } = rule.to;
  const _id = deliveryIdOf(event.id, rule.id);
  const wanted = { _id, runId: null, text, event: { id: event.id, type: event.type, rule: rule.id } };
  if (wake !== undefined) {
    const isNow = wake === "now";
    await stores.events.add([{ _id: `notify-${_id}`, text, source: `notification ${rule.id}`, wake: isNow }]);
    const isNew = await stores.deliveries.add({ ...wanted, kind: "wake", channel: "wake", to: null, fault: null });
    if (isNew) count(deps, rule.id, event.type);
    if (isNew) deps.metrics.deliveries.inc({ channel: "wake", outcome: "sent" });
    if (isNow) await deps.triggerHeartbeat();
  } else if (channel !== undefined) {
    const target = await resolveTarget(stores, { channel, to }, deps.delivery);
    const shown = { title, ...(link !== undefined && { link }) };
    await addAndDeliver(deps, { ...wanted, ...shown, ...target, kind: "channel" });
  }
}

async function sendWebhook(
  deps: DispatchDeps,
  rule: Rule,
  { event, record }: RecordedEvent,
  held: number,
): Promise<void> {
  const { webhook } = rule.to;
  if (!webhook) return;
  const included = await withIncluded(deps.stores, record, event.data, webhook.include);
  const data = held > 0 ? { ...included, heldBack: held } : included;
  const hasIncluded = webhook.include.length > 0;
  const body = webhookBody(event, data, { format: webhook.format, source: sourceOf(deps), hasIncluded });
  await addWebhook(deps, event, rule.id, { ...body, url: null });
}

async function sendCallback(deps: DispatchDeps, event: NotifyEvent, url: string): Promise<void> {
  const body = webhookBody(event, event.data, { format: "standard", source: sourceOf(deps), hasIncluded: false });
  await addWebhook(deps, event, null, { ...body, url });
}

async function addWebhook(
  deps: DispatchDeps,
  { id, type }: NotifyEvent,
  rule: string | null,
  webhook: { readonly body: string; readonly contentType: string; readonly url: string | null },
): Promise<void> {
  const _id = rule === null ? `${id}_callback` : deliveryIdOf(id, rule);
  const to = rule ?? URL.parse(webhook.url ?? "")?.host ?? null;
  const common = { _id, runId: null, kind: "webhook" as const, channel: "webhook", to, text: "", fault: null };
  await addAndDeliver(deps, { ...common, event: { id, type, rule }, webhook });
}

/** Adds a delivery and enqueues it. One that exists already stays as it is: the sweep enqueues it if its entry was lost. */
async function addAndDeliver(
  deps: DispatchDeps,
  delivery: NewDelivery & { readonly event: DeliveredEvent },
): Promise<void> {
  const { _id, channel, fault, event } = delivery;
  if (!(await deps.stores.deliveries.add(delivery))) return;
  count(deps, event.rule ?? "callback", event.type);
  await deps.deliver({ deliveryId: _id, channel, fault });
}

const count = ({ metrics }: DispatchDeps, rule: string, type: string) => metrics.notifications.inc({ rule, type });

/**
 * Returns the link in a message. A question to people has the link with which they answer. The agent does not get it, because a
 * person must decide.
 */
async function linkOf(deps: DispatchDeps, { to }: Rule, event: NotifyEvent): Promise<string | undefined> {
  const { publicUrl, stores } = deps;
  if (event.asks === undefined || publicUrl === undefined || to.wake !== undefined) return urlOf(deps, event);
  return answerUrl(stores.answerLinks, publicUrl, event.asks);
}

export const urlOf = ({ publicUrl }: DispatchDeps, { path }: Pick<NotifyEvent, "path">): string | undefined =>
  publicUrl === undefined ? undefined : publicUrl + path;

const sourceOf = ({ publicUrl }: DispatchDeps): string => (publicUrl === undefined ? "signalbox" : `${publicUrl}/api`);
