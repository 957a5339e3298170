import { renderTemplate, type Template } from "../../config/formats/template.ts";
import type { GateView } from "../../models/gates/gate.ts";
import { sanitizeText } from "../../shared/text/sanitizeText.ts";
import type { NotifyEvent } from "./notifyEvent.ts";

/** Maximum characters of a message of a job or an error in a text. */
const MAX_QUOTED_LENGTH = 1_000;

/** Returns the text of an event as Markdown: that of the rule's template, or the default of its type. */
export function eventText(event: NotifyEvent, template: Template | undefined, url: string | undefined): string {
  return template ? renderEvent(event, template, url) : defaultText(event, url);
}

function renderEvent({ type, at, data }: NotifyEvent, template: Template, url: string | undefined): string {
  const { job, run, gate } = data;
  const payload = { type, timestamp: at.toISOString(), data, job, run, gate, url };
  const scope = { payload, headers: {}, query: {}, path: "", now: at };
  return renderTemplate(template, scope, (value, { keys }) => (OWN.has(keys.join(".")) ? value : escapeMarkdown(value)))
    .text;
}

/** The values that no caller chooses, which need no escape. */
const OWN = new Set(["type", "timestamp", "url"]);

/** Returns the sentence about events that were held back; empty if there were none. */
export function heldText(held: number): string {
  if (held === 0) return "";
  return held === 1
    ? "\n\n1 more event was held back since the last message."
    : `\n\n${held} more events were held back since the last message.`;
}

function defaultText(event: NotifyEvent, url: string | undefined): string {
  return [...lines(event), ...(url === undefined ? [] : [url])].join("\n\n");
}

/** Returns the paragraphs of the default text. */
function lines({ type, at, data }: NotifyEvent): string[] {
  const { job, reason, run, delivery, gate = {}, expect, lastSeenAt, rule } = data;
  const jobName = strong(job?.name ?? job?.jobId);
  const runName = strong(run?.name ?? "The agent run");
  switch (type) {
    case "job.completed":
      return [`${jobName} completed${after(job?.createdAt, at)}.`, ...quote(job?.message)];
    case "job.failed":
      return [`${jobName} failed${after(job?.createdAt, at)}.`, ...quote(job?.message ?? reason)];
    case "job.stale": {
      const step = job?.currentStep ? ` in step ${strong(job.currentStep.stepName)}` : "";
      const since = moment(job?.lastReportAt ?? job?.createdAt);
      return [`${jobName} has not been reported since ${since}, at ${job?.progress} %${step}.`, ...quote(job?.message)];
    }
    case "job.recovered":
      return [`${jobName} is reported again, at ${job?.progress} %.`, ...quote(job?.message)];
    case "job.missing": {
      const last = lastSeenAt ? `The last one was created at ${moment(lastSeenAt)}.` : "None has been created so far.";
      return [`No job ${strong(expect?.name)} was created in time. ${last}`];
    }
    case "run.completed":
      return [`${runName} completed.`];
    case "run.failed":
      return [`${runName} failed.`, ...quote(run?.error?.message)];
    case "run.dropped":
      return [`${runName} was dropped by its transform.`];
    case "delivery.failed":
      return [`A delivery to ${strong(delivery?.channel)} failed.`, ...quote(delivery?.reason)];
    case "gate.opened":
      return [`${jobName} asks: ${strong(gate.title)}`, ...quote(gate.message), ...silence(gate)];
    case "gate.answered":
      return [`The question ${strong(gate.title)} of ${jobName} was answered: ${escapeMarkdown(String(gate.action))}.`];
    case "gate.expired":
      return [
        `The question ${strong(gate.title)} of ${jobName} has expired without an answer. It counts as ${counted(gate)}.`,
      ];
    case "test":
      return [`This is a test of the notification rule ${strong(rule)}.`];
  }
}

/**
 * Returns the text about events for which a rule sends no message each.
 * @param listed the titles of the first ones
 */
export function summaryText(count: number, listed: readonly string[], url: string | undefined): string {
  const rest = count - listed.length;
  const list = [...listed.map((title) => `- ${escapeMarkdown(title)}`), ...(rest > 0 ? [`- and ${rest} more`] : [])];
  const events = count === 1 ? "1 more event" : `${count} more events`;
  const intro = `${events} within the last minute:`;
  return [intro, list.join("\n"), ...(url === undefined ? [] : [url])].join("\n\n");
}

/** Returns the paragraph about what happens to a question without an answer; none if it never expires. */
const silence = ({ expiresAt, onExpiry }: Partial<GateView>): string[] =>
  expiresAt
    ? [`Answer before ${moment(expiresAt)}. Without an answer by then, it counts as ${counted({ action: onExpiry })}.`]
    : [];

const DECISIONS = { accept: "accepted", decline: "declined", cancel: "cancelled" } as const;

const counted = ({ action }: { readonly action?: GateView["action"] | undefined }): string =>
  DECISIONS[action ?? "decline"];

const strong = (text: unknown): string => `**${escapeMarkdown(oneLine(String(text ?? "")))}**`;

const oneLine = (text: string): string => text.replace(/\s+/g, " ").trim();

/** Returns a text of somebody else as a paragraph; none if it is empty. */
function quote(text: unknown): string[] {
  const clean = sanitizeText(String(text ?? "")).trim();
  if (clean === "") return [];
  const cut = clean.length > MAX_QUOTED_LENGTH ? `${clean.slice(0, MAX_QUOTED_LENGTH).toWellFormed()}…` : clean;
  return [escapeMarkdown(cut)];
}

/** Escapes what Markdown would read as markup. Source: CommonMark, backslash escapes. */
const escapeMarkdown = (text: string): string => text.replace(/[!-/:-@[-`{-~]/g, "\\$&");

const moment = (time: string | undefined): string =>
  time === undefined ? "its start" : `${time.slice(0, 16).replace("T", " ")} UTC`;

/** Returns how long after its creation an event of a job happened. */
function after(createdAt: string | undefined, at: Date): string {
  const seconds = Math.round((at.getTime() - Date.parse(createdAt ?? "")) / 1_000);
  if (!(seconds >= 1)) return "";
  const [unit, size] =
    seconds < 120 ? ["s", 1] : seconds < 7_200 ? ["min", 60] : seconds < 172_800 ? ["h", 3_600] : ["d", 86_400];
  return ` after ${Math.round(seconds / (size as number))} ${unit}`;
}
