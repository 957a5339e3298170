import type { WebhookRequest } from "../../models/deliveries/delivery.ts";
import type { RunHead } from "../../wire/runs/run.ts";
import type { JobRow, Notification } from "./notification.ts";

/** Maximum size of a body without included parts in bytes. Source: the Standard Webhooks specification. */
const MAX_BODY_BYTES = 20_000;
/**
 * The cuts of a body, tried one after the other until it is small enough: the maximum length of its texts and lists, and
 * whether it has the form and the answer of a gate, which are whole or null. The last one always fits: a notification has
 * about ten ids, of at most 256 characters each, and few other texts that people write. It leaves times whole.
 */
const CUTS = [
  { text: 4_000, items: 20, free: true },
  { text: 1_000, items: 20, free: true },
  { text: 250, items: 20, free: false },
  { text: 30, items: 1, free: false },
] as const;
type Cut = (typeof CUTS)[number];

/** The fields that are never cut: receivers read the record by them, or open them. The items of `waitingFor` are keys of gates. */
const IDS = new Set([
  "jobId",
  "parentJobId",
  "runId",
  "stepId",
  "stepKey",
  "gateId",
  "key",
  "deliveryId",
  "id",
  "waitingFor",
  "url",
]);
/** The objects of any shape. */
const FREE = new Set(["requestedSchema", "content"]);

type Format = "standard" | "cloudevents";
/** The parts of a notification that a body has. */
type Sent = Pick<Notification, "id" | "type" | "at" | "subject"> & {
  readonly data: { readonly job?: Pick<JobRow, "jobId">; readonly run?: Pick<RunHead, "runId"> };
};

/**
 * Returns the request that sends a notification.
 * @param data the data of the notification with its included parts
 * @param source the address of the service, which names it in CloudEvents
 */
export function webhookBody(
  notification: Sent,
  data: object,
  { format, source, hasIncluded }: { format: Format; source: string; hasIncluded: boolean },
): Omit<WebhookRequest, "url"> {
  const body = (fields: object) =>
    JSON.stringify(format === "standard" ? standard(notification, fields) : cloudEvent(notification, fields, source));
  const contentType = format === "standard" ? "application/json" : "application/cloudevents+json; charset=utf-8";
  const whole = body(data);
  if (hasIncluded || Buffer.byteLength(whole) < MAX_BODY_BYTES) return { body: whole, contentType };
  const shorter = CUTS.map((limits) => body(cut(data, limits) as object));
  const fitting = shorter.find((text) => Buffer.byteLength(text) < MAX_BODY_BYTES);
  return { body: fitting ?? (shorter.at(-1) as string), contentType };
}

const standard = ({ type, at }: Sent, data: object) => ({ type, timestamp: at.toISOString(), data });

/** Source: CloudEvents 1.0.2, JSON format in structured mode. */
const cloudEvent = ({ id, type, at, subject, data: { job, run } }: Sent, data: object, source: string) => ({
  specversion: "1.0",
  id,
  source,
  type: `dev.signalbox.${type}`,
  subject: job?.jobId ?? run?.runId ?? subject,
  time: at.toISOString(),
  datacontenttype: "application/json",
  data,
});

/** Returns a JSON value with shorter texts and lists. @param field the name of the field that the value belongs to */
function cut(value: unknown, limits: Cut, field = ""): unknown {
  if (FREE.has(field)) return limits.free ? value : null;
  if (typeof value === "string") return IDS.has(field) ? value : cutText(value, limits.text);
  if (Array.isArray(value)) return value.slice(0, limits.items).map((item) => cut(item, limits, field));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, cut(item, limits, key)]));
}

const cutText = (text: string, length: number): string =>
  text.length > length ? `${text.slice(0, length).toWellFormed()}…` : text;
