import { viewDelivery } from "../../models/deliveries/readDeliveries.ts";
import type { JobDoc } from "../../models/jobs/job.ts";
import { isInScope, type JobScope, type OneJob, ownJob } from "../../models/jobs/jobScope.ts";
import { readJobRows } from "../../models/jobs/read/readJobs.ts";
import { readStepSummaries } from "../../models/jobs/read/readSteps.ts";
import { type FilteredJob, isVolatile, type JobFilter, matchesFilter } from "../../models/jobs/search/jobFilter.ts";
import { readRunHeads } from "../../models/runs/readRuns.ts";
import type { Stores } from "../../models/stores.ts";
import type { Change } from "../../shared/queue/changeStream.ts";
import { formatLiveEvent } from "./eventStream.ts";

export const TOPICS = ["jobs", "runs", "deliveries"] as const;
type Topic = (typeof TOPICS)[number];

/** The records whose events a client receives: one job with its steps, or the rows of lists. */
export type Subscription =
  | { readonly jobId: string; readonly scope: JobScope | undefined }
  | { readonly topics: ReadonlySet<Topic>; readonly filter: JobFilter };

interface CurrentJob {
  readonly job: FilteredJob & Pick<JobDoc, "_id">;
  readonly text: string;
}

interface ChangedJob {
  readonly jobId: string;
  /** Whether the job may match other filters than before. */
  readonly moved: boolean;
  /** Whether the job itself or a step has changed, and not only a log. */
  readonly isChanged: boolean;
  /** Null when the job was deleted. */
  readonly current: CurrentJob | null;
  /** The events of its changed steps, when a client watches this job. */
  readonly steps: readonly string[];
  /** The events of the lines that were added to its logs. */
  readonly logs: readonly string[];
}

/** The current state of changed records, as formatted events. */
export class ChangedRecords {
  readonly #jobs: ReadonlyMap<string, ChangedJob>;
  readonly #texts: Readonly<Record<"runs" | "deliveries", readonly string[]>>;

  private constructor(jobs: readonly ChangedJob[], runs: readonly string[], deliveries: readonly string[]) {
    this.#jobs = new Map(jobs.map((job) => [job.jobId, job]));
    this.#texts = { runs, deliveries };
  }

  /** Reads the changed records that match a subscription, each once. @throws AppError unavailable */
  static async read(
    stores: Stores,
    changes: readonly Change[],
    subscriptions: readonly Subscription[],
  ): Promise<ChangedRecords> {
    const topics = new Set(subscriptions.flatMap((one) => ("topics" in one ? [...one.topics] : [])));
    const watched = new Set(subscriptions.flatMap((one) => ("jobId" in one ? [one.jobId] : [])));
    const idsOf = (kind: "run" | "delivery") => [
      ...new Set(changes.flatMap((change) => (change.kind === kind ? [change.id] : []))),
    ];
    const [jobs, runs, deliveries] = await Promise.all([
      readJobs(stores, changes, topics.has("jobs") ? "all" : watched, watched),
      topics.has("runs") ? readRunHeads(stores, idsOf("run")) : [],
      topics.has("deliveries") ? stores.deliveries.findMany(idsOf("delivery")) : [],
    ]);
    return new ChangedRecords(
      jobs,
      runs.map((run) => formatLiveEvent("run", run)),
      deliveries.map((delivery) => formatLiveEvent("delivery", viewDelivery(delivery))),
    );
  }

  /** Returns the events for a subscription. */
  eventsFor(subscription: Subscription, now: Date): string[] {
    if ("jobId" in subscription) {
      const changed = this.#jobs.get(subscription.jobId);
      if (!changed) return [];
      const current = currentFor(changed, subscription.scope);
      if (!current) return [removed(changed.jobId)];
      return [...(changed.isChanged ? [current.text] : []), ...changed.steps, ...changed.logs];
    }
    const { topics, filter } = subscription;
    const jobs = topics.has("jobs") ? [...this.#jobs.values()].flatMap((job) => listEvents(job, filter, now)) : [];
    return [
      ...jobs,
      ...(["runs", "deliveries"] as const).flatMap((topic) => (topics.has(topic) ? this.#texts[topic] : [])),
    ];
  }

  /** Returns whether the job of a job token is gone, so that a subscription with the token ends. */
  endsSubscription(subscription: Subscription): boolean {
    const scope = scopeOf(subscription);
    const own = ownJob(scope);
    const changed = own && this.#jobs.get(own.jobId);
    return changed !== undefined && currentFor(changed, scope) === null;
  }
}

const scopeOf = (subscription: Subscription): JobScope | undefined =>
  ("jobId" in subscription ? subscription : subscription.filter).scope;

/** Returns the job of the job token of a subscription. */
export const subscribedJob = (subscription: Subscription): OneJob | undefined => ownJob(scopeOf(subscription));

/** Returns the job of a change, or null for a token whose job it is not: it was created again under its id. */
function currentFor({ jobId, current }: ChangedJob, scope: JobScope | undefined): CurrentJob | null {
  const own = ownJob(scope);
  const isOther = jobId === own?.jobId && current?.job._id.toHexString() !== own.internalId;
  return isOther ? null : current;
}

function listEvents(changed: ChangedJob, filter: JobFilter, now: Date): string[] {
  const { jobId, moved, isChanged, logs } = changed;
  if (!isInScope(jobId, filter.scope)) return [];
  const current = currentFor(changed, filter.scope);
  if (current && matchesFilter(current.job, filter, now)) return [...(isChanged ? [current.text] : []), ...logs];
  // a deletion is a move: without one, the job is a parent that does not exist yet
  return isChanged && (moved || (current && isVolatile(filter))) ? [removed(jobId)] : [];
}

const removed = (jobId: string) => formatLiveEvent("job_removed", { jobId });

async function readJobs(
  stores: Stores,
  changes: readonly Change[],
  relevant: "all" | ReadonlySet<string>,
  watched: ReadonlySet<string>,
): Promise<ChangedJob[]> {
  const moved = new Map<string, boolean>();
  const stepKeys = new Map<string, Set<string>>();
  const logs = new Map<string, Change[]>();
  for (const change of changes) {
    if (change.kind === "log" && (relevant === "all" || relevant.has(change.jobId))) {
      logs.set(change.jobId, [...(logs.get(change.jobId) ?? []), change]);
    }
    if (change.kind === "step" && watched.has(change.jobId)) {
      stepKeys.set(change.jobId, (stepKeys.get(change.jobId) ?? new Set()).add(change.stepKey));
    }
    // a report publishes the change of its step before that of its job
    if (change.kind === "job" && (relevant === "all" || relevant.has(change.jobId))) {
      moved.set(change.jobId, change.moved || (moved.get(change.jobId) ?? false));
    }
  }
  const jobIds = [...new Set([...moved.keys(), ...stepKeys.keys(), ...logs.keys()])];
  // the steps first: a job that is still there after them is the one that had them
  const steps = await readStepSummaries(stores, stepKeys);
  const rows = await readJobRows(stores, jobIds);
  const found = new Map(rows.map((row) => [row.job.jobId, row]));
  return jobIds.map((jobId) => {
    const row = found.get(jobId);
    return {
      jobId,
      moved: moved.get(jobId) ?? false,
      isChanged: moved.has(jobId) || stepKeys.has(jobId),
      current: row ? { job: row.job, text: formatLiveEvent("job", row.row) } : null,
      steps: (steps.get(jobId) ?? []).map((step) => formatLiveEvent("step", step)),
      logs: logEvents(logs.get(jobId) ?? []),
    };
  });
}

/** Returns one event for each step whose log has grown. */
function logEvents(changes: readonly Change[]): string[] {
  const added = changes.flatMap((change) => (change.kind === "log" ? [change] : []));
  return [...Map.groupBy(added, ({ stepKey }) => stepKey).values()].map((group) => {
    const { jobId, stepKey } = group[0] as (typeof group)[number];
    const from = Math.min(...group.map((one) => one.from));
    return formatLiveEvent("log", { jobId, stepKey, from, to: Math.max(...group.map(({ to }) => to)) });
  });
}
