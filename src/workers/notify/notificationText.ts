import { defaultText } from "../../shared/notifications/catalogue.ts";
import { escapeMarkdown } from "../../shared/notifications/phrases.ts";
import { renderTemplate, type Template } from "../../shared/text/template.ts";
import type { Notification } from "./notification.ts";
import { summaryTitle } from "./notificationTitle.ts";

/** The values of a template that no caller chooses, which need no escape. */
const OWN = new Set(["type", "timestamp", "url"]);

type Shown = Pick<Notification, "type" | "at" | "data">;

/** Returns the text of a notification as Markdown: that of the rule's template, or the default of its type. */
export function notificationText(shown: Shown, template: Template | undefined, url: string | undefined): string {
  const { type, at, data } = shown;
  return template ? render(shown, template, url) : withUrl(defaultText(type, data, at), url);
}

function render({ type, at, data }: Shown, template: Template, url: string | undefined): string {
  const { job, run, gate } = data;
  const payload = { type, timestamp: at.toISOString(), data, job, run, gate, url };
  const scope = { payload, headers: {}, query: {}, path: "", now: at };
  return renderTemplate(template, scope, (value, { keys }) => (OWN.has(keys.join(".")) ? value : escapeMarkdown(value)))
    .text;
}

/** Returns the sentence about notifications that were held back; empty if there were none. */
export function heldText(held: number): string {
  if (held === 0) return "";
  return held === 1
    ? "\n\n1 more event was held back since the last message."
    : `\n\n${held} more events were held back since the last message.`;
}

/**
 * Returns the text about notifications for which a rule sends no message each.
 * @param listed the titles of the first ones
 */
export function summaryText(count: number, listed: readonly string[], url: string | undefined): string {
  const rest = count - listed.length;
  const list = [...listed.map((title) => `- ${escapeMarkdown(title)}`), ...(rest > 0 ? [`- and ${rest} more`] : [])];
  return withUrl([`${summaryTitle(count)} within the last minute:`, list.join("\n")], url);
}

const withUrl = (paragraphs: readonly string[], url: string | undefined): string =>
  [...paragraphs, ...(url === undefined ? [] : [url])].join("\n\n");
