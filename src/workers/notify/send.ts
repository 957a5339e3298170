import { randomBytes } from "node:crypto";
import type { ChatAccess } from "../../config/channels/chatAccess.ts";
import { type AddedDelivery, type DeliverySettings, resolveTarget } from "../../models/deliveries/addDelivery.ts";
import {
  type AskedQuestion,
  type DeliveredEvent,
  deliveryIdOf,
  type NewDelivery,
  priorityOf,
} from "../../models/deliveries/delivery.ts";
import { answerUrl } from "../../models/gates/answerLinks.ts";
import { shownVersion } from "../../models/gates/shown.ts";
import { MAX_DEPTH } from "../../models/notes/depth.ts";
import type { Summary } from "../../models/notifications/alert.ts";
import type { NotedRecord } from "../../models/notifications/outbox.ts";
import { NOTIFICATION_PREFIX } from "../../models/sessions/mainEvent.ts";
import type { Stores } from "../../models/stores.ts";
import type { Clock } from "../../shared/clock.ts";
import type { Logger } from "../../shared/logger.ts";
import { subjectPath } from "../../shared/notifications/catalogue.ts";
import { endText } from "../live/progressText.ts";
import type { WorkerMetrics } from "../metrics.ts";
import { withIncluded } from "./included.ts";
import type { Notification } from "./notification.ts";
import { heldText, notificationText, summaryText } from "./notificationText.ts";
import { notificationTitle, summaryTitle } from "./notificationTitle.ts";
import type { Rule } from "./rule.ts";
import { webhookBody } from "./webhookBody.ts";

export interface SendDeps {
  readonly stores: Stores;
  readonly clock: Clock;
  readonly log: Logger;
  readonly rules: readonly Rule[];
  readonly delivery: DeliverySettings;
  readonly access: ChatAccess;
  /** The address under which people reach the service; messages have no links without it. */
  readonly publicUrl: string | undefined;
  readonly metrics: WorkerMetrics;
  /** Enqueues a delivery. */
  deliver(added: AddedDelivery): Promise<void>;
  triggerHeartbeat(): Promise<void>;
}

/** A notification and the record that it is about. */
interface RecordedNotification {
  readonly notification: Notification;
  readonly record: NotedRecord;
}

/** Bytes of the random id of buttons, which nobody can guess. */
const BUTTON_BYTES = 16;

const TOO_DEEP =
  `The event follows from ${MAX_DEPTH} turns of the agent in a row that events have caused. ` +
  "Rules send no further one, so that a loop ends.";

/**
 * Sends a notification by a rule, or stores a failed delivery if the notification is too deep.
 * @param held the number of notifications that were held back or dropped before it
 * @param live the message that follows the job, for the end of a job by a live rule: it is edited, and a failure is a message too
 */
export async function send(
  deps: SendDeps,
  rule: Rule,
  { notification, record }: RecordedNotification,
  held: number,
  live?: string,
): Promise<void> {
  if (rule.to.webhook) return sendWebhook(deps, rule, { notification, record }, held);
  const link = await linkOf(deps, rule, notification);
  const title = notificationTitle(notification);
  if (rule.isLive && notification.type !== "test") {
    // The message that follows the job shows no log: the one that rings does.
    const { log: _, ...data } = notification.data;
    const ended = live === undefined ? notification : { ...notification, data };
    const text = endText(ended, link) + heldText(held);
    await sendText(deps, rule, notification, { text, title, link, live });
    if (live === undefined || notification.type !== "job.failed") return;
  }
  const text = notificationText(notification, rule.template, link) + heldText(held);
  const question = askedQuestion(notification);
  const suffix = live === undefined ? "" : RING;
  return sendText(deps, rule, notification, { text, title, link, question, suffix });
}

/** Returns the question of a message about a gate, with new random buttons. A message that is added twice keeps the first ones. */
function askedQuestion({ asks, data: { gate } }: Notification): AskedQuestion | undefined {
  if (asks === undefined || !gate) return undefined;
  const button = randomBytes(BUTTON_BYTES).toString("base64url");
  const required = (gate.requestedSchema as { required?: unknown[] } | null)?.required ?? [];
  const shows = { gateId: asks._id, button, needsForm: required.length > 0, shown: shownVersion(gate) };
  return { ...shows, refs: [], open: true, tries: 0, notBefore: null };
}

/** Sends the summary of the notifications that were too many for a rule within a minute. */
export async function sendSummary(deps: SendDeps, rule: Rule, summary: Summary): Promise<void> {
  const { more, listed, depth = 0 } = summary;
  const link = urlOf(deps, "/");
  const message = { text: summaryText(more, listed, link), title: summaryTitle(more), link };
  return sendText(deps, rule, { ...summary, depth }, message);
}

/** The end of the id of the delivery that makes a failure ring, beside the one that edits the message. */
const RING = "_ring";

interface Text {
  readonly text: string;
  readonly title: string;
  readonly link: string | undefined;
  readonly live?: string | undefined;
  readonly suffix?: string;
  /** The question that a person can answer with buttons of the message. */
  readonly question?: AskedQuestion | undefined;
}

/** Sends a text to the chat or the main session of a rule. */
async function sendText(
  deps: SendDeps,
  rule: Rule,
  { id, type, depth }: Pick<Notification, "id" | "type" | "depth">,
  { text, title, link, live, question, suffix = "" }: Text,
): Promise<void> {
  const { stores } = deps;
  const { channel, to = null, wake } = rule.to;
  const _id = deliveryIdOf(id, rule.id) + suffix;
  const fault = faultOf(deps, rule.id, { id, type, depth });
  const wanted = { _id, runId: null, text, depth, event: { id, type, rule: rule.id } };
  if (wake !== undefined) {
    const isNow = wake === "now";
    const mainEvent = { _id: NOTIFICATION_PREFIX + _id, text, source: `notification ${rule.id}`, wake: isNow };
    if (fault === null) await stores.mainEvents.add([{ ...mainEvent, depth: depth + 1 }]);
    const isNew = await stores.deliveries.add({ ...wanted, kind: "wake", channel: "wake", to: null, fault });
    if (isNew) count(deps, rule.id, type);
    if (isNew) deps.metrics.deliveries.inc({ channel: "wake", outcome: fault === null ? "sent" : "failed" });
    if (isNow && fault === null) await deps.triggerHeartbeat();
  } else if (channel !== undefined) {
    const target = await resolveTarget(stores, { channel, to }, deps.delivery);
    const asked = question && deps.access.takesAnswers(channel) && { question };
    const more = { ...(link !== undefined && { link }), ...(live !== undefined && { live }) };
    const shown = { title, ...more, ...asked };
    await addAndDeliver(deps, {
      ...wanted,
      ...shown,
      ...target,
      fault: fault ?? target.fault,
      kind: "channel",
    });
  }
}

async function sendWebhook(
  deps: SendDeps,
  rule: Rule,
  { notification, record }: RecordedNotification,
  held: number,
): Promise<void> {
  const { webhook } = rule.to;
  if (!webhook) return;
  const included = await withIncluded(deps.stores, record, notification.data, webhook.include);
  const data = { ...included, ...(held > 0 && { heldBack: held }), ...pageOf(deps, notification) };
  const hasIncluded = webhook.include.length > 0;
  const body = webhookBody(notification, data, { format: webhook.format, source: sourceOf(deps), hasIncluded });
  await addWebhook(deps, notification, rule.id, { ...body, url: null });
}

/** Sends a notification to the `callbackUrl` of its job or run. */
export async function sendCallback(deps: SendDeps, notification: Notification, url: string): Promise<void> {
  const body = webhookBody(
    notification,
    { ...notification.data, ...pageOf(deps, notification) },
    {
      format: "standard",
      source: sourceOf(deps),
      hasIncluded: false,
    },
  );
  await addWebhook(deps, notification, null, { ...body, url });
}

async function addWebhook(
  deps: SendDeps,
  { id, type, depth }: Notification,
  rule: string | null,
  webhook: { readonly body: string; readonly contentType: string; readonly url: string | null },
): Promise<void> {
  const _id = rule === null ? `${id}_callback` : deliveryIdOf(id, rule);
  const to = rule ?? URL.parse(webhook.url ?? "")?.host ?? null;
  const fault = rule === null ? null : faultOf(deps, rule, { id, type, depth });
  const common = { _id, runId: null, kind: "webhook" as const, channel: "webhook", to, text: "", fault, depth };
  await addAndDeliver(deps, { ...common, event: { id, type, rule }, webhook });
}

/** Adds a delivery and enqueues it. One that exists already stays as it is: the sweep enqueues it if its entry was lost. */
async function addAndDeliver(
  deps: SendDeps,
  delivery: NewDelivery & { readonly event: DeliveredEvent },
): Promise<void> {
  const { _id, channel, fault, event } = delivery;
  if (!(await deps.stores.deliveries.add(delivery))) return;
  count(deps, event.rule ?? "callback", event.type);
  await deps.deliver({ deliveryId: _id, channel, fault, priority: priorityOf({ event }) });
}

/** Returns why a rule does not send a notification, or null. */
function faultOf(
  { log }: SendDeps,
  rule: string,
  notification: Pick<Notification, "id" | "type" | "depth">,
): string | null {
  if (notification.depth < MAX_DEPTH) return null;
  log.warn(
    { rule, event: notification.id, type: notification.type },
    "a rule has stopped: turns of the agent cause its events",
  );
  return TOO_DEEP;
}

const count = ({ metrics }: SendDeps, rule: string, type: string) => metrics.notifications.inc({ rule, type });

/**
 * Returns the link in a message. A question to people has the link with which they answer. The agent does not get it, because a
 * person must decide.
 */
async function linkOf(deps: SendDeps, { to }: Rule, notification: Notification): Promise<string | undefined> {
  const { publicUrl, stores } = deps;
  if (notification.asks === undefined || publicUrl === undefined || to.wake !== undefined) {
    return pageOf(deps, notification).url;
  }
  return answerUrl(stores.answerLinks, publicUrl, notification.asks);
}

/** Returns the page of the record of a notification as the `url` of its data, if people can reach the service. */
function pageOf(deps: SendDeps, { type, data }: Pick<Notification, "type" | "data">): { readonly url?: string } {
  const url = urlOf(deps, subjectPath(type, data));
  return url === undefined ? {} : { url };
}

const urlOf = ({ publicUrl }: SendDeps, path: string): string | undefined =>
  publicUrl === undefined ? undefined : publicUrl + path;

const sourceOf = ({ publicUrl }: SendDeps): string => (publicUrl === undefined ? "signalbox" : `${publicUrl}/api`);
