import type { NotedType } from "../../models/notifications/note.ts";
import { sanitizeText } from "../../shared/text/sanitizeText.ts";
import type { NotifyEvent } from "./notifyEvent.ts";

/** Maximum characters of a name in a title. */
const MAX_NAME_LENGTH = 100;

/** The verb phrase of an event, which follows the name of the subject. */
const PREDICATES: Readonly<Record<Exclude<NotedType, "delivery.failed">, string>> = {
  "job.completed": "completed",
  "job.failed": "failed",
  "job.stale": "is no longer reported",
  "job.recovered": "is reported again",
  "job.missing": "is missing",
  "run.completed": "completed",
  "run.failed": "failed",
  "run.dropped": "was dropped",
  "gate.opened": "asks a question",
  "gate.answered": "was answered",
  "gate.expired": "got no answer",
  test: "is tested",
};

/**
 * Returns the title of an event as plain text on one line, for services that show one: a subject, or the head of a
 * notification.
 */
export function eventTitle({ type, data }: Pick<NotifyEvent, "type" | "data">): string {
  const { job, run, delivery, expect, rule } = data;
  if (type === "delivery.failed") return `A delivery to ${nameOf(delivery?.channel)} failed`;
  const subject = job?.name ?? job?.jobId ?? run?.name ?? expect?.name ?? (run ? "The agent run" : `The rule ${rule}`);
  return `${nameOf(subject)} ${PREDICATES[type]}`;
}

/** Returns the title of the summary of several events. */
export const summaryTitle = (count: number): string => (count === 1 ? "1 more event" : `${count} more events`);

function nameOf(name: string | undefined): string {
  const clean = sanitizeText(name ?? "")
    .replace(/\s+/g, " ")
    .trim();
  return clean.length > MAX_NAME_LENGTH ? `${clean.slice(0, MAX_NAME_LENGTH).toWellFormed()}…` : clean;
}
