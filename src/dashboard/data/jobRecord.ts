import { type Job, type JobSummary, SignalboxError, type StepSummary } from "../../client/client.ts";
import { mergeJob } from "./jobRows.ts";
import { STEP_ROW, service } from "./service.ts";
import { Store } from "./store.ts";

export interface JobSnapshot {
  readonly job: Job | null;
  /** Oldest first. */
  readonly steps: readonly StepSummary[];
  /** Whether the job has more steps than are shown. */
  readonly hasMoreSteps: boolean;
  /** What the job has said since it is looked at, newest first, the present message included. */
  readonly messages: readonly { readonly text: string; readonly at: string }[];
  /** It was deleted while it was looked at. */
  readonly isDeleted: boolean;
  readonly error: unknown;
}

const FIRST_PAGE = 200;
const PAGE = 1_000;
/** No reader goes through more; the API has them all. */
const MAX_STEPS = 5_000;
const MAX_MESSAGES = 50;

/** One job and its steps as they are now. Outputs of steps are left out: they are read when one is looked at. */
export class JobRecord {
  readonly snapshot = new Store<JobSnapshot>({
    ...{ job: null, steps: [], hasMoreSteps: false, messages: [], isDeleted: false, error: null },
  });
  readonly #jobId: string;
  #steps = new Map<string, StepSummary>();
  /** What summary have told of since the present reading began: it may know less. */
  #changed: { job: JobSummary | null; readonly stepIds: Set<string> } = { job: null, stepIds: new Set() };
  #reading: AbortController | null = null;
  #frame = 0;
  #pendingChange: Partial<JobSnapshot> = {};

  constructor(jobId: string) {
    this.#jobId = jobId;
  }

  /** Reads all of it anew. */
  async reload(): Promise<void> {
    this.#reading?.abort();
    const reading = new AbortController();
    this.#reading = reading;
    this.#changed = { job: null, stepIds: new Set() };
    try {
      const [job] = await Promise.all([
        service.jobs.get(this.#jobId, {}, { signal: reading.signal }),
        this.#readSteps(reading.signal),
      ]);
      const shown = this.#latest().job;
      const isSame = shown?.createdAt === job.createdAt;
      this.#change({
        job: isSame ? mergeRead(shown, job) : job,
        error: null,
        isDeleted: false,
        ...this.#addMessage(job),
      });
      this.#reading = null;
      if (this.#changed.job) this.applyJob(this.#changed.job);
    } catch (error) {
      if (reading.signal.aborted) return;
      this.#reading = null;
      const isDeleted =
        error instanceof SignalboxError && error.code === "job_not_found" && this.#latest().job !== null;
      this.#change(isDeleted ? { isDeleted } : { error });
    }
  }

  applyJob(summary: JobSummary): void {
    const { job } = this.#latest();
    this.#changed.job = summary;
    if (!job) {
      if (!this.#reading) void this.reload();
      return; // said again once it is read
    }
    const isOther = summary.createdAt !== job.createdAt;
    const hasEnded = summary.status !== job.status;
    this.#change({ job: mergeJob(job, summary), ...this.#addMessage(summary) });
    // News are without input, metadata and output; what changed without a report may be one of these.
    const isNoReport = summary.updatedAt > job.updatedAt && summary.lastReportAt === job.lastReportAt;
    if (isOther || hasEnded || isNoReport || this.#latest().isDeleted) void this.reload();
  }

  applyStep(summary: StepSummary): void {
    this.#changed.stepIds.add(summary.stepId);
    this.#putStep(summary);
    this.#change({ steps: [...this.#steps.values()] });
  }

  markDeleted(): void {
    if (!this.#latest().job) return void this.reload(); // which says so
    this.#reading?.abort();
    this.#changed = { job: null, stepIds: new Set() };
    this.#change({ isDeleted: true });
  }

  close(): void {
    this.#reading?.abort();
    cancelAnimationFrame(this.#frame);
  }

  async #readSteps(signal: AbortSignal): Promise<void> {
    const found = new Map<string, StepSummary>();
    let cursor: string | undefined;
    do {
      const limit = found.size === 0 ? FIRST_PAGE : PAGE;
      const page = await service.jobs.steps(this.#jobId, { limit, cursor, fields: STEP_ROW }, { signal });
      for (const step of page.steps) found.set(step.stepKey, step);
      cursor = page.nextCursor ?? undefined;
    } while (cursor !== undefined && found.size < MAX_STEPS);
    const known = [...this.#steps.values()];
    this.#steps = found;
    for (const step of known) {
      const fresh = found.get(step.stepKey);
      const isKnown = fresh ? fresh.stepId === step.stepId : this.#changed.stepIds.has(step.stepId);
      if (isKnown) this.#putStep(step); // summary may have overtaken the page
    }
    this.#change({ steps: [...this.#steps.values()], hasMoreSteps: cursor !== undefined });
  }

  #putStep(step: StepSummary): void {
    const known = this.#steps.get(step.stepKey);
    if (known?.stepId === step.stepId && known.updatedAt > step.updatedAt) return;
    if (known || this.#steps.size < MAX_STEPS) this.#steps.set(step.stepKey, step);
  }

  #addMessage({ message, updatedAt }: JobSummary): Partial<JobSnapshot> {
    const { messages } = this.#latest();
    if (!message || messages[0]?.text === message) return {};
    return { messages: [{ text: message, at: updatedAt }, ...messages].slice(0, MAX_MESSAGES) };
  }

  #latest(): JobSnapshot {
    return { ...this.snapshot.value, ...this.#pendingChange };
  }

  /** Drawn once for a frame's worth of summary. */
  #change(change: Partial<JobSnapshot>): void {
    this.#pendingChange = { ...this.#pendingChange, ...change };
    this.#frame ||= requestAnimationFrame(() => {
      this.#frame = 0;
      this.snapshot.set(this.#latest());
      this.#pendingChange = {};
    });
  }
}

/** What was read, unless summary have overtaken it; only the reading has input, metadata and output. */
function mergeRead(shown: Job, read: Job): Job {
  const { input, metadata, output } = read;
  return read.updatedAt >= shown.updatedAt ? (mergeJob(shown, read) as Job) : { ...shown, input, metadata, output };
}
