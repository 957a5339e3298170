import type { Job, JobSummary, StepSummary } from "../client/client.ts";
import { type Html, html } from "../shared/text/html.ts";
import { isStale, shownStatus, stepsText, titleOf } from "./data/job/jobText.ts";
import { foldOf, orderSteps } from "./data/job/stepOrder.ts";
import { firstWords, visible } from "./text.ts";
import { count } from "./time.ts";

/** Rows that the document shows: a screen full. */
const MAX_ROWS = 15;

interface Answers {
  readonly jobs?: { readonly jobs: readonly JobSummary[] };
  readonly job?: Job;
  readonly urgent?: { readonly steps: readonly StepSummary[] };
  readonly completed?: { readonly steps: readonly StepSummary[] };
}

/**
 * Returns what the document shows until the script draws the page in its place: the title and the first rows, where the page has
 * them. A slow phone shows them 1.5 seconds before the script has arrived.
 * @param answers the answers of the API in the document, by the names of `FIRST_READS`
 * @param base the path that the paths of the page follow
 */
export function firstContent({ jobs, job, urgent, completed }: Answers, base: string): Html {
  if (job) return jobContent(job, [...(urgent?.steps ?? []), ...(completed?.steps ?? [])], base);
  const rows = jobs?.jobs.slice(0, MAX_ROWS).map((one) => jobRow(one, base)) ?? [];
  return html`${rows.length > 0 && html`<div class="page-head line"><h1>Jobs</h1></div>${table("jobs", rows)}`}`;
}

function jobContent(job: Job, steps: readonly StepSummary[], base: string): Html {
  const ordered = orderSteps(steps);
  const fold = foldOf(ordered, job, false);
  const rows = [...ordered.first, ...(fold ? [] : ordered.completed)].slice(0, MAX_ROWS).map(stepRow);
  if (fold) rows.push(row(html`<b>${visible(fold.name)}</b>`, `${count(fold.count)} completed`));
  const title = titleOf(job);
  return html`<p class="crumbs line"><a href="${base}/">Jobs</a></p>
<div class="page-head line"><div><h1>${visible(title)}</h1>${title !== job.jobId && html`<bdi class="id muted">${job.jobId}</bdi>`}</div></div>
<section class="card job-head"><div class="headline line">${statusOf(job)}<span>${stepsText(job.stepCounts)}</span></div>
<div class="said large">${firstWords(job.message ?? "")}</div></section>
<div class="job-columns columns-2 stack"><section class="steps"><div class="step-filter line"><h2>Steps</h2></div>${rows.length > 0 && table("steps", rows)}</section></div>`;
}

const jobRow = (job: JobSummary, base: string): Html =>
  row(link(`${base}/jobs/${encodeURIComponent(job.jobId)}`, titleOf(job)), job.message, { status: statusOf(job) });

const stepRow = ({ stepKey, stepName, status, message }: StepSummary): Html =>
  row(link(`?step=${encodeURIComponent(stepKey)}`, stepName), message, { isFault: status === "failed" });

const table = (kind: string, rows: readonly Html[]): Html =>
  html`<div class="table box table-${kind}"><div class="table-body">${rows}</div></div>`;

const row = (name: Html, message: string | null, { status = html``, isFault = false } = {}): Html =>
  html`<div class="row"><span class="cell-select"></span><span class="cell-name">${name}</span>
<span class="cell-message ${isFault ? "fault" : "muted"}"><bdi>${firstWords(message ?? "")}</bdi></span>${status}</div>`;

const link = (href: string, name: string): Html => html`<a href="${href}" dir="auto">${visible(name)}</a>`;

const statusOf = (job: JobSummary): Html => {
  const status = isStale(job, Date.now()) ? "stale" : shownStatus(job);
  return html`<span class="cell-status status status-${status}">${status.charAt(0).toUpperCase()}${status.slice(1)}</span>`;
};
