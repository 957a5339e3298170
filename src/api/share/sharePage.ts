import { type Html, html } from "../../shared/text/html.ts";
import { sanitizeText } from "../../shared/text/sanitizeText.ts";
import type { SharedJob } from "../../wire/share.ts";
import { page, when } from "../pages/plainPage.ts";
import type { Badge } from "./badge.ts";

/** How often the page of a running job is loaded again, in seconds. */
export const REFRESH_SECONDS = 5;
/** Maximum characters of an output on the page. Its data has the whole output. */
const MAX_OUTPUT_CHARS = 50_000;

/** Returns the page of a shared job. */
export function sharePage(job: SharedJob): string {
  const { title, progress, message, createdAt, lastReportAt, endedAt, steps, stepCount, output, log, expiresAt } = job;
  return page(
    `${stateOf(job)}: ${title}`,
    html`<h1 dir="auto">${title}</h1>
<p><strong>${stateOf(job)}</strong> · ${percent(progress)}</p>
<progress max="100" value="${progress}" aria-label="Progress">${percent(progress)}</progress>
${message !== null && html`<p class="text" dir="auto">${sanitizeText(message)}</p>`}
<p class="muted">Created ${when(new Date(createdAt))}.${lastReportAt !== null && html` Last report ${when(new Date(lastReportAt))}.`}${endedAt !== null && html` Ended ${when(new Date(endedAt))}, after ${duration(createdAt, endedAt)}.`}</p>
${steps.length > 0 && html`<h2>Steps</h2>${stepCount > steps.length && html`<p class="muted">The last ${steps.length} of ${stepCount} steps.</p>`}<ol start="${stepCount - steps.length + 1}">${steps.map(stepItem)}</ol>`}
${log && log.length > 0 && html`<h2>Log</h2><pre tabindex="0" dir="auto">${log.map(({ text }) => text).join("\n")}</pre>`}
${output && html`<h2>Output</h2><pre tabindex="0" dir="auto">${shownJson(output)}</pre>`}
<p class="muted">Whoever has this link sees this page until ${when(new Date(expiresAt))}.${job.status === "running" && html` It refreshes itself.`}</p>`,
    job.status === "running" ? REFRESH_SECONDS : undefined,
  );
}

/** Returns the badge of a shared job. */
export const shareBadge = (job: SharedJob): Badge => ({
  label: job.title,
  message: job.status === "running" ? `${stateOf(job).toLowerCase()} ${percent(job.progress)}` : job.status,
  color: job.status === "running" ? (job.stale ? "orange" : "blue") : COLORS[job.status],
});

const COLORS = { completed: "green", failed: "red", cancelled: "grey" } as const;
const STATES = { running: "Running", completed: "Completed", failed: "Failed", cancelled: "Cancelled" } as const;

function stateOf({ status, stale, waiting }: SharedJob): string {
  if (status === "running" && waiting) return "Waiting for a person";
  return status === "running" && stale ? "No longer reported" : STATES[status];
}

const stepItem = ({ stepName, status, progress, startedAt, endedAt }: SharedJob["steps"][number]): Html => {
  const state = status === "running" ? percent(progress) : STATES[status].toLowerCase();
  const took = endedAt !== null && `, ${duration(startedAt, endedAt)}`;
  return html`<li><span dir="auto">${stepName}</span> <span class="muted">${state}${took}</span></li>`;
};

const percent = (progress: number): string => `${Math.floor(progress)} %`;

/** Returns a span of time in the two largest units that it has. */
function duration(from: string, to: string): string {
  const seconds = Math.max(0, Math.round((Date.parse(to) - Date.parse(from)) / 1_000));
  const [days, hours, minutes] = [seconds / 86_400, (seconds / 3_600) % 24, (seconds / 60) % 60].map(Math.floor);
  const units = [`${days} d`, `${hours} h`, `${minutes} min`, `${seconds % 60} s`];
  const first = units.findIndex((unit) => !unit.startsWith("0 "));
  return first === -1 ? "0 s" : units.slice(first, first + 2).join(" ");
}

function shownJson(value: object): string {
  const text = JSON.stringify(value, null, 2);
  if (text.length <= MAX_OUTPUT_CHARS) return text;
  return `${text.slice(0, MAX_OUTPUT_CHARS).toWellFormed()}…\n\n${text.length - MAX_OUTPUT_CHARS} more characters`;
}
