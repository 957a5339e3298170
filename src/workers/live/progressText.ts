import type { JobProgress } from "../../models/jobs/read/followedJobs.ts";
import { defaultText } from "../../shared/notifications/catalogue.ts";
import { escapeMarkdown, strong } from "../../shared/notifications/phrases.ts";
import { sanitizeText } from "../../shared/text/sanitizeText.ts";
import { type ProgressPoint, roundEstimate, timeLeft } from "../../shared/timeLeft.ts";
import type { Notification } from "../notify/notification.ts";

/** Maximum characters of a name, and of a message, so that the text is one message of every service. */
const MAX_NAME_CHARS = 100;
const MAX_MESSAGE_CHARS = 300;
const BAR_CHARS = 12;

/** Returns the text about a running job in Markdown: name, bar, step, message and time left. */
export function progressText(job: JobProgress, points: readonly ProgressPoint[], now: Date, url?: string): string {
  const { progress, current, openGates = [] } = job;
  const left = timeLeft(points, now.getTime());
  const message = onOneLine(job.message ?? current?.message ?? "", MAX_MESSAGE_CHARS);
  return lines([
    `⏳ ${nameOf(job)}`,
    `${bar(progress)} ${progress} %${left === null ? "" : `, about ${span(roundEstimate(left))} left`}`,
    ...(openGates.length > 0
      ? ["waits for an answer"]
      : current
        ? [`Step ${strong(onOneLine(current.stepName))}`]
        : []),
    ...(message === "" ? [] : [escapeMarkdown(message)]),
    ...(url === undefined ? [] : [url]),
  ]);
}

/** Returns the text about a job that was deleted before it ended. */
export const deletedText = (name: string): string => `🗑 ${strong(onOneLine(name))} was deleted.`;

/** Returns the text of the end of a job: that of the notification behind a mark. */
export function endText(
  { type, at, data }: Pick<Notification, "type" | "at" | "data">,
  url: string | undefined,
): string {
  const [first = "", ...rest] = defaultText(type, data, at);
  const mark = type === "job.completed" ? "✅" : "❌";
  return [`${mark} ${first}`, ...rest, ...(url === undefined ? [] : [url])].join("\n\n");
}

const nameOf = ({ name, jobId }: JobProgress): string => strong(onOneLine(name ?? jobId));

const lines = (all: readonly string[]): string => all.join("\\\n");

function bar(progress: number): string {
  const full = Math.floor((progress / 100) * BAR_CHARS);
  return "▓".repeat(full) + "░".repeat(BAR_CHARS - full);
}

/** Returns a text of somebody else on one line. */
export function onOneLine(text: string, maxChars = MAX_NAME_CHARS): string {
  const line = sanitizeText(text).replace(/\s+/g, " ").trim();
  return line.length > maxChars ? `${line.slice(0, maxChars).toWellFormed()}…` : line;
}

/** Returns a rounded time. */
function span(ms: number): string {
  const seconds = ms / 1_000;
  const [unit, size] =
    seconds < 60 ? ["s", 1] : seconds < 3_600 ? ["min", 60] : seconds < 86_400 ? ["h", 3_600] : ["d", 86_400];
  return `${Math.round((seconds / (size as number)) * 10) / 10} ${unit}`;
}
