import { signal } from "@preact/signals";
import {
  type Client,
  type Job,
  type JobSummary,
  SignalboxError,
  type StatusCounts,
  type Step,
  type StepSummary,
} from "../../../client/client.ts";
import { type ProgressPoint, withPoint } from "../../../shared/timeLeft.ts";
import { throttle } from "../live/throttle.ts";
import type { JobRow } from "./jobRows.ts";
import { mergeJob, mergeRead } from "./mergeJob.ts";

/** The fields of a row of the list of steps. */
const STEP_ROW: readonly (keyof Step)[] = [
  "stepId",
  "jobId",
  "stepKey",
  "stepName",
  "status",
  "progress",
  "message",
  "createdAt",
  "updatedAt",
  "startedAt",
  "attempts",
  "lastReportAt",
  "stale",
];

export interface JobSnapshot {
  readonly job: Job | null;
  /** Whether only the job's row of a list is known: its payloads and steps are not read yet. */
  readonly isRow: boolean;
  /** Oldest first. */
  readonly steps: readonly StepSummary[];
  /** Whether the job has more steps than are shown. */
  readonly hasMoreSteps: boolean;
  /** The messages since the page was opened, newest first, including the current one. */
  readonly messages: readonly { readonly text: string; readonly at: string }[];
  /** The progress at the reports since the page was opened, and at the creation of the job, oldest first. */
  readonly points: readonly ProgressPoint[];
  /** Whether the job was deleted while the page was open. */
  readonly isDeleted: boolean;
  readonly error: unknown;
}

const FIRST_PAGE = 200;
const PAGE = 1_000;
const NO_COUNTS: StatusCounts = { running: 0, completed: 0, failed: 0 };

/** The fields of a job that rows of the list do not have. */
const NOT_IN_ROWS = {
  input: null,
  output: null,
  links: [],
  stepCounts: NO_COUNTS,
  parentJobId: null,
  children: NO_COUNTS,
  returnTo: null,
  returns: [],
} as const satisfies Partial<Job>;

/** Maximum number of shown steps: more cannot be read on a page; the API returns all of them. */
const MAX_STEPS = 5_000;
const MAX_MESSAGES = 50;
const RENDER_EVERY_MS = 16;

/** The calls of the API that the record makes. */
type Reader = Pick<Client["jobs"], "get" | "steps">;

/**
 * The current state of one job and its steps, read over the API and updated by live events. Outputs of steps are read
 * only when a step is opened.
 */
export class JobRecord {
  readonly snapshot = signal<JobSnapshot>({
    job: null,
    isRow: false,
    steps: [],
    hasMoreSteps: false,
    messages: [],
    points: [],
    isDeleted: false,
    error: null,
  });
  readonly #jobs: Reader;
  readonly #jobId: string;
  #steps = new Map<string, StepSummary>();
  /** The job and the steps that events have changed since the current reload began: its responses may be older. */
  #changed: { job: JobSummary | null; readonly stepIds: Set<string> } = { job: null, stepIds: new Set() };
  #reading: AbortController | null = null;
  #pendingChange: Partial<JobSnapshot> = {};
  /** Renders a burst of events once. */
  readonly #renderSoon = throttle(() => this.#render(), RENDER_EVERY_MS);

  /** @param row the job's row of a list, which is shown until the job is read */
  constructor(jobs: Reader, jobId: string, row: JobRow | null = null) {
    this.#jobs = jobs;
    this.#jobId = jobId;
    if (!row) return;
    const job = { ...NOT_IN_ROWS, ...row, metadata: row.metadata ?? null };
    this.snapshot.value = { ...this.snapshot.value, job, isRow: true, ...this.#noteReport(row) };
  }

  /** Reads the job and its steps. Replaces a reload that is in progress. */
  async reload(): Promise<void> {
    this.#reading?.abort();
    const reading = new AbortController();
    this.#reading = reading;
    this.#changed = { job: null, stepIds: new Set() };
    try {
      const read = this.#jobs.get(this.#jobId, {}, { signal: reading.signal });
      if (isMissing(this.#latest().error)) await read; // Its steps are read once it exists.
      const [job] = await Promise.all([read, this.#readSteps(reading.signal)]);
      reading.signal.throwIfAborted(); // The response may have arrived just before a newer reload began.
      const shown = this.#latest().job;
      const isSame = shown?.createdAt === job.createdAt;
      this.#change({
        job: isSame ? mergeRead(shown, job) : job,
        isRow: false,
        error: null,
        isDeleted: false,
        ...this.#noteReport(job),
      });
      this.#reading = null;
      if (this.#changed.job) this.applyJob(this.#changed.job);
    } catch (error) {
      if (reading.signal.aborted) return;
      this.#reading = null;
      const isDeleted = isMissing(error) && this.#latest().job !== null;
      this.#change(isDeleted ? { isDeleted } : { error });
    }
  }

  /** Applies a live event of the job. Reloads when the event lacks fields that may have changed. */
  applyJob(summary: JobSummary): void {
    const { job } = this.#latest();
    this.#changed.job = summary;
    if (!job) {
      if (!this.#reading) void this.reload();
      return; // reload() applies it once the job is read.
    }
    const isRecreated = summary.createdAt !== job.createdAt;
    const hasEnded = summary.status !== job.status;
    this.#change({ job: mergeJob(job, summary), ...this.#noteReport(summary) });
    // Events lack input, metadata and output, which may have changed if there was no report.
    const isNoReport = summary.updatedAt > job.updatedAt && summary.lastReportAt === job.lastReportAt;
    if (isRecreated || hasEnded || isNoReport || this.#latest().isDeleted) void this.reload();
  }

  applyStep(summary: StepSummary): void {
    this.#changed.stepIds.add(summary.stepId);
    this.#putStep(summary);
    this.#change({ steps: [...this.#steps.values()] });
  }

  markDeleted(): void {
    if (!this.#latest().job) return void this.reload(); // Its error says that the job does not exist.
    this.#reading?.abort();
    this.#changed = { job: null, stepIds: new Set() };
    this.#change({ isDeleted: true });
  }

  close(): void {
    this.#reading?.abort();
    this.#renderSoon.stop();
  }

  async #readSteps(signal: AbortSignal): Promise<void> {
    const found = new Map<string, StepSummary>();
    let cursor: string | undefined;
    do {
      const limit = found.size === 0 ? FIRST_PAGE : PAGE;
      const page = await this.#jobs.steps(this.#jobId, { limit, cursor, fields: STEP_ROW }, { signal });
      for (const step of page.steps) found.set(step.stepKey, step);
      cursor = page.nextCursor ?? undefined;
    } while (cursor !== undefined && found.size < MAX_STEPS);
    signal.throwIfAborted();
    const before = [...this.#steps.values()];
    this.#steps = found;
    for (const step of before) {
      const fresh = found.get(step.stepKey);
      const isSame = fresh ? fresh.stepId === step.stepId : this.#changed.stepIds.has(step.stepId);
      if (isSame) this.#putStep(step); // Its event may be newer than the page.
    }
    this.#change({ steps: [...this.#steps.values()], hasMoreSteps: cursor !== undefined });
  }

  #putStep(step: StepSummary): void {
    const current = this.#steps.get(step.stepKey);
    if (current?.stepId === step.stepId && current.updatedAt > step.updatedAt) return;
    if (current || this.#steps.size < MAX_STEPS) this.#steps.set(step.stepKey, step);
  }

  /** Adds the message and the progress of the latest report to those that the page has seen. */
  #noteReport({ message, updatedAt, createdAt, lastReportAt, progress }: JobSummary): Partial<JobSnapshot> {
    const { job, messages, points } = this.#latest();
    const isSame = job?.createdAt === createdAt && points.length > 0;
    const earlier = isSame ? points : [{ at: Date.parse(createdAt), progress: 0 }];
    const isNew = message && messages[0]?.text !== message;
    return {
      points: lastReportAt ? withPoint(earlier, { at: Date.parse(lastReportAt), progress }) : earlier,
      ...(isNew && { messages: [{ text: message, at: updatedAt }, ...messages].slice(0, MAX_MESSAGES) }),
    };
  }

  #latest(): JobSnapshot {
    return { ...this.snapshot.value, ...this.#pendingChange };
  }

  #change(change: Partial<JobSnapshot>): void {
    this.#pendingChange = { ...this.#pendingChange, ...change };
    this.#renderSoon();
  }

  #render(): void {
    this.snapshot.value = this.#latest();
    this.#pendingChange = {};
  }
}

/** Whether an error says that the job does not exist. */
export const isMissing = (error: unknown): boolean => error instanceof SignalboxError && error.code === "job_not_found";
