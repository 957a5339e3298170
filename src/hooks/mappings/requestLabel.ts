import { isObject } from "../../shared/text/json.ts";
import { lookUp, parsePath, type Reference } from "../../shared/text/template.ts";
import type { HookCall } from "./mapping.ts";

/** Maximum characters of an event and an object. They are a sender's texts, and are stored with each request. */
const MAX_CHARS = 100;

/**
 * The places in which senders name the event, the most telling first: the headers of code hosts, CloudEvents, Shopify, Sentry and
 * Amazon SNS, then the usual fields of a body.
 */
const EVENT = compile(
  "headers.x-github-event",
  "headers.x-gitlab-event",
  "headers.x-gitea-event",
  "headers.x-event-key",
  "headers.ce-type",
  "headers.x-shopify-topic",
  "headers.sentry-hook-resource",
  "payload.webhookEvent",
  "payload.eventType",
  "payload.event_type",
  "payload.event",
  "payload.event.event_type",
  "payload.event.type",
  "payload.type",
  "payload.object_kind",
  "payload.status",
);

const ACTION = compile("payload.action", "payload.object_attributes.action", "payload.object_attributes.status");

/** The places in which they name what the event is about. */
const OBJECT = compile(
  "payload.repository.full_name",
  "payload.project.path_with_namespace",
  "headers.ce-subject",
  "payload.subject",
  "payload.issue.key",
  "payload.groupLabels.alertname",
  "payload.data.issue.title",
  "payload.data.event.title",
  "payload.data.object.id",
  "payload.data.title",
  "payload.data.id",
  "payload.project.name",
  "payload.project",
  "payload.title",
  "payload.name",
  "payload.job",
  "payload.id",
);

/**
 * Returns what happened and to what by the usual names of senders, for the list of requests.
 * @returns such as `{ event: "issues · opened", object: "octo/shop" }`, each without what the request does not name
 */
export function labelOf({ headers, payload, ...rest }: HookCall): { event?: string; object?: string } {
  const scope = { ...rest, headers, payload: isObject(payload) ? payload : {}, now: new Date(0) };
  const first = (references: readonly Reference[]): string | undefined => {
    for (const reference of references) {
      const value = lookUp(reference, scope);
      const text = typeof value === "number" ? String(value) : typeof value === "string" ? value.trim() : "";
      if (text !== "") return text.slice(0, MAX_CHARS).toWellFormed();
    }
    return undefined;
  };
  const event = first(EVENT);
  const action = first(ACTION);
  const named = [event, action === event ? undefined : action].filter((one) => one !== undefined).join(" · ");
  const object = first(OBJECT);
  return {
    ...(named !== "" && { event: named.slice(0, MAX_CHARS).toWellFormed() }),
    ...(object !== undefined && { object }),
  };
}

function compile(...paths: readonly string[]): readonly Reference[] {
  return paths.map(parsePath);
}
