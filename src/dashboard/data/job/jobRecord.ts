import { signal } from "@preact/signals";
import type { Client, Job, JobSummary, StatusCounts, Step, StepSummary } from "../../../client/client.ts";
import { type ProgressPoint, withPoint } from "../../../shared/timeLeft.ts";
import { FIRST_PAGE, STEP_ROW } from "../../firstReads.ts";
import { isMissing } from "../errors.ts";
import { throttle } from "../live/throttle.ts";
import type { JobRow } from "./jobRows.ts";
import { mergeJob, mergeRead } from "./mergeJob.ts";

export interface JobSnapshot {
  readonly job: Job | null;
  /** Whether only the job's row of a list is known: its payloads and steps are not read yet. */
  readonly isRow: boolean;
  readonly steps: readonly StepSummary[];
  /** Whether all steps of the job are read, or as many as the page shows. */
  readonly isWhole: boolean;
  /** The messages since the page was opened, newest first, including the current one. */
  readonly messages: readonly { readonly text: string; readonly at: string }[];
  /** The progress at the reports since the page was opened, and at the creation of the job, oldest first. */
  readonly points: readonly ProgressPoint[];
  /** Whether the job was deleted while the page was open. */
  readonly isDeleted: boolean;
  readonly error: unknown;
}

/** Rows of the pages after the first one. */
const PAGE = 1_000;
const NO_COUNTS: StatusCounts = { running: 0, completed: 0, failed: 0 };

/** The fields of a job that rows of the list do not have. */
const NOT_IN_ROWS = {
  input: null,
  output: null,
  links: [],
  parentJobId: null,
  children: NO_COUNTS,
  returnTo: null,
  returns: [],
} as const satisfies Partial<Job>;

/** Maximum number of shown steps: more cannot be read on a page; the API returns all of them. */
const MAX_STEPS = 10_000;
const MAX_MESSAGES = 50;
const RENDER_EVERY_MS = 16;

/** A job and the first of its steps, as they came with the document. */
export interface FirstOfJob {
  readonly job: Job;
  readonly steps: readonly Step[];
}

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
    isWhole: false,
    messages: [],
    points: [],
    isDeleted: false,
    error: null,
  });
  readonly #jobs: Reader;
  readonly #jobId: string;
  #steps = new Map<string, StepSummary>();
  /** The job of the latest event since the current reload began, whose response may be older. */
  #changedJob: JobSummary | null = null;
  #reading: Record<"job" | "steps", AbortController | null> = { job: null, steps: null };
  #pendingChange: Partial<JobSnapshot> = {};
  /** Renders a burst of events once. */
  readonly #renderSoon = throttle(() => this.#render(), RENDER_EVERY_MS);

  /** @param first what is shown until the job is read: the job with some of its steps, or its row of a list */
  constructor(jobs: Reader, jobId: string, first: FirstOfJob | JobRow | null = null) {
    this.#jobs = jobs;
    this.#jobId = jobId;
    if (!first) return;
    const isRow = !("job" in first);
    const job = isRow ? { ...NOT_IN_ROWS, ...first, metadata: first.metadata ?? null } : first.job;
    if (!isRow) for (const step of first.steps) this.#steps.set(step.stepKey, { ...step, jobId });
    const steps = [...this.#steps.values()];
    this.snapshot.value = { ...this.snapshot.value, job, isRow, steps, ...this.#noteReport(job) };
  }

  /** Reads the job and its steps, and shows each part as it arrives. Replaces a reload that is in progress. */
  async reload(): Promise<void> {
    const read = this.#read("job", (signal) => this.#readJob(signal));
    if (isMissing(this.#latest().error, "job")) {
      await read;
      if (isMissing(this.#latest().error, "job")) return; // Its steps are read once it exists.
    }
    await Promise.all([read, this.#read("steps", (signal) => this.#readSteps(signal))]);
  }

  /** Reads a part of the record in place of a reading that is in progress. */
  async #read(part: "job" | "steps", read: (signal: AbortSignal) => Promise<void>): Promise<void> {
    this.#reading[part]?.abort();
    const reading = new AbortController();
    this.#reading[part] = reading;
    try {
      await read(reading.signal);
    } catch (error) {
      if (reading.signal.aborted) return;
      const isDeleted = isMissing(error, "job") && this.#latest().job !== null;
      this.#change(isDeleted ? { isDeleted } : { error });
    }
    if (this.#reading[part] === reading) this.#reading[part] = null;
  }

  async #readJob(signal: AbortSignal): Promise<void> {
    this.#changedJob = null;
    const job = await this.#jobs.get(this.#jobId, {}, { signal });
    signal.throwIfAborted(); // The response may have arrived just before a newer reading began.
    const shown = this.#latest().job;
    const isSame = shown?.createdAt === job.createdAt;
    this.#change({
      job: isSame ? mergeRead(shown, job) : job,
      isRow: false,
      error: null,
      isDeleted: false,
      ...this.#noteReport(job),
    });
    if (shown && !isSame) this.#restart();
    if (this.#changedJob) this.applyJob(this.#changedJob);
  }

  /** Reads the steps of a job that was created again in place of those of the former one. */
  #restart(): void {
    this.#steps.clear();
    this.#change({ isWhole: false });
    void this.#read("steps", (signal) => this.#readSteps(signal));
  }

  /** Applies a live event of the job. Reloads when the event lacks fields that may have changed. */
  applyJob(summary: JobSummary): void {
    const { job } = this.#latest();
    this.#changedJob = summary;
    if (!job) {
      if (!this.#reading.job) void this.reload();
      return; // It is applied once the job is read.
    }
    const isRecreated = summary.createdAt > job.createdAt;
    const hasEnded = summary.status !== job.status;
    this.#change({ job: mergeJob(job, summary), ...this.#noteReport(summary) });
    // Events lack input, metadata and output, which may have changed if there was no report.
    const isNoReport = summary.updatedAt > job.updatedAt && summary.lastReportAt === job.lastReportAt;
    if (isRecreated || hasEnded || isNoReport || this.#latest().isDeleted)
      void this.#read("job", (signal) => this.#readJob(signal));
    if (isRecreated) this.#restart();
  }

  applyStep(summary: StepSummary): void {
    this.#putStep(summary);
    this.#change({});
  }

  markDeleted(): void {
    if (!this.#latest().job) return void this.reload(); // Its error says that the job does not exist.
    this.#abort();
    this.#change({ isDeleted: true });
  }

  close(): void {
    this.#abort();
    this.#renderSoon.stop();
  }

  #abort(): void {
    this.#reading.job?.abort();
    this.#reading.steps?.abort();
    this.#reading = { job: null, steps: null };
    this.#changedJob = null;
  }

  /** Reads the steps that need eyes and the completed ones beside each other, so that neither waits for all of the others. */
  async #readSteps(signal: AbortSignal): Promise<void> {
    await Promise.all([this.#readPages(["running", "failed"], signal), this.#readPages(["completed"], signal)]);
    this.#change({ isWhole: true });
  }

  async #readPages(status: Step["status"][], signal: AbortSignal): Promise<void> {
    let cursor: string | undefined;
    let limit = FIRST_PAGE;
    do {
      const page = await this.#jobs.steps(this.#jobId, { status, limit, cursor, fields: STEP_ROW }, { signal });
      signal.throwIfAborted();
      for (const step of page.steps) this.#putStep({ ...step, jobId: this.#jobId });
      this.#change({});
      cursor = page.nextCursor ?? undefined;
      limit = PAGE;
    } while (cursor !== undefined && this.#steps.size < MAX_STEPS);
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
    this.snapshot.value = { ...this.#latest(), steps: [...this.#steps.values()] };
    this.#pendingChange = {};
  }
}
