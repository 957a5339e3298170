import { viewDelivery } from "../../models/deliveries/readDeliveries.ts";
import { type FilteredJob, isVolatile, type JobFilter, matchesFilter } from "../../models/jobs/jobFilter.ts";
import { readJobRows } from "../../models/jobs/readJobs.ts";
import { readStepSummaries } from "../../models/jobs/readSteps.ts";
import { readRunHeads } from "../../models/runs/readRuns.ts";
import type { Stores } from "../../models/stores.ts";
import type { Change } from "../../shared/queue/changeStream.ts";
import { eventText } from "./eventStream.ts";

export const TOPICS = ["jobs", "runs", "deliveries"] as const;
type Topic = (typeof TOPICS)[number];

/** What a client wants to hear of: one job with its steps, or what is in lists. */
export type Wanted = { readonly jobId: string } | { readonly topics: ReadonlySet<Topic>; readonly filter: JobFilter };

interface ChangedJob {
  readonly jobId: string;
  /** It may fit other filters than before. */
  readonly moved: boolean;
  /** Null when it is gone. */
  readonly now: { readonly job: FilteredJob; readonly text: string } | null;
  /** Those of its steps that changed, where somebody follows this job. */
  readonly steps: readonly string[];
}

/** What has become of records that changed, in the words of the events. */
export class News {
  readonly #jobs: ReadonlyMap<string, ChangedJob>;
  readonly #texts: Readonly<Record<"runs" | "deliveries", readonly string[]>>;

  private constructor(jobs: readonly ChangedJob[], runs: readonly string[], deliveries: readonly string[]) {
    this.#jobs = new Map(jobs.map((job) => [job.jobId, job]));
    this.#texts = { runs, deliveries };
  }

  /** Reads those of the changed records that somebody wants to hear of, each once. @throws AppError unavailable */
  static async read(stores: Stores, changes: readonly Change[], wanted: readonly Wanted[]): Promise<News> {
    const topics = new Set(wanted.flatMap((one) => ("topics" in one ? [...one.topics] : [])));
    const followed = new Set(wanted.flatMap((one) => ("jobId" in one ? [one.jobId] : [])));
    const idsOf = (kind: "run" | "delivery") => [
      ...new Set(changes.flatMap((change) => (change.kind === kind ? [change.id] : []))),
    ];
    const [jobs, runs, deliveries] = await Promise.all([
      readJobs(stores, changes, topics.has("jobs") ? "all" : followed, followed),
      topics.has("runs") ? readRunHeads(stores, idsOf("run")) : [],
      topics.has("deliveries") ? stores.deliveries.findMany(idsOf("delivery")) : [],
    ]);
    return new News(
      jobs,
      runs.map((run) => eventText("run", run)),
      deliveries.map((delivery) => eventText("delivery", viewDelivery(delivery))),
    );
  }

  /** The events for one who wants to hear of this. */
  for(wanted: Wanted, now: Date): string[] {
    if ("jobId" in wanted) {
      const changed = this.#jobs.get(wanted.jobId);
      return changed ? [changed.now?.text ?? removed(changed.jobId), ...changed.steps] : [];
    }
    const { topics, filter } = wanted;
    const jobs = topics.has("jobs") ? [...this.#jobs.values()].flatMap((job) => inList(job, filter, now)) : [];
    return [
      ...jobs,
      ...(["runs", "deliveries"] as const).flatMap((topic) => (topics.has(topic) ? this.#texts[topic] : [])),
    ];
  }
}

function inList({ jobId, moved, now: is }: ChangedJob, filter: JobFilter, now: Date): string[] {
  if (is && matchesFilter(is.job, filter, now)) return [is.text];
  return !is || moved || isVolatile(filter) ? [removed(jobId)] : [];
}

const removed = (jobId: string) => eventText("job_removed", { jobId });

async function readJobs(
  stores: Stores,
  changes: readonly Change[],
  wanted: "all" | ReadonlySet<string>,
  followed: ReadonlySet<string>,
): Promise<ChangedJob[]> {
  const moved = new Map<string, boolean>();
  const stepKeys = new Map<string, Set<string>>();
  for (const change of changes) {
    if (change.kind === "step" && followed.has(change.jobId)) {
      stepKeys.set(change.jobId, (stepKeys.get(change.jobId) ?? new Set()).add(change.stepKey));
    }
    // a report tells of its step and then of its job
    if (change.kind === "job" && (wanted === "all" || wanted.has(change.jobId))) {
      moved.set(change.jobId, change.moved || (moved.get(change.jobId) ?? false));
    }
  }
  const jobIds = [...new Set([...moved.keys(), ...stepKeys.keys()])];
  const [rows, steps] = await Promise.all([readJobRows(stores, jobIds), readStepSummaries(stores, stepKeys)]);
  const found = new Map(rows.map((row) => [row.job.jobId, row]));
  return jobIds.map((jobId) => {
    const is = found.get(jobId);
    return {
      jobId,
      moved: moved.get(jobId) ?? false,
      now: is ? { job: is.job, text: eventText("job", is.row) } : null,
      steps: (steps.get(jobId) ?? []).map((step) => eventText("step", step)),
    };
  });
}
