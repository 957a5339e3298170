import type { Status } from "../../models/jobs/job.ts";
import { reportOrCreate, reportStep } from "../../models/jobs/reports/reportStep.ts";
import { isPageUrl } from "../../shared/text/pageUrl.ts";
import type { ApiDeps } from "../deps.ts";
import type { RunEvent } from "./runEvent.ts";

type Deps = Pick<ApiDeps, "stores" | "metrics" | "clock"> & {
  /** The trace of the request, which counts for the jobs that it creates. */
  readonly trace: { readonly traceparent?: string };
};

/** Maximum events of a list that are applied at the same time. */
const CONCURRENCY = 50;
/** Maximum characters of a name and of a message. Longer ones are cut, because senders make them of what they run. */
const MAX_NAME = 1_024;
const MAX_MESSAGE = 65_536;

const STATUS: Readonly<Partial<Record<string, Status>>> = {
  START: "running",
  RUNNING: "running",
  COMPLETE: "completed",
  FAIL: "failed",
  ABORT: "failed",
};
/** The order of events of one millisecond. */
const RANK: Readonly<Record<Status, number>> = { running: 0, completed: 1, failed: 2 };
const RANKS = 4;

/**
 * Applies run events. Their order does not matter, so that all are applied even if one fails.
 * @param prefix the beginning of the ids of the jobs
 * @throws AppError of the first event that failed: invalid_body, too_many_steps, unavailable
 */
export async function applyRunEvents(deps: Deps, prefix: string, events: readonly RunEvent[]): Promise<void> {
  const inList = new Map(events.map((event) => [event.run.runId, event]));
  const failures: unknown[] = [];
  for (let i = 0; i < events.length; i += CONCURRENCY) {
    const batch = events.slice(i, i + CONCURRENCY);
    const results = await Promise.allSettled(batch.map((event) => apply(deps, prefix, event, inList)));
    failures.push(...results.flatMap((one) => (one.status === "rejected" ? [one.reason] : [])));
  }
  if (failures.length > 0) throw failures[0];
}

type Events = ReadonlyMap<string, RunEvent>;

async function apply(deps: Deps, prefix: string, event: RunEvent, inList: Events): Promise<void> {
  const { stores, metrics, clock } = deps;
  const { runId, facets } = event.run;
  const time = Date.parse(event.eventTime);
  // A sender whose clock is ahead makes no record of the future, but its own times order its events.
  const at = new Date(Math.min(time, clock.now().getTime()));
  const status = STATUS[event.eventType ?? "OTHER"];
  const message = facets?.errorMessage?.message.slice(0, MAX_MESSAGE).toWellFormed();
  const { url = "" } = event.job.facets?.sourceCodeLocation ?? {};
  const content = {
    ...(isPageUrl(url) && { links: [{ title: "Source", url }] }),
    ...(status && { status }),
    ...(message !== undefined && { message }),
    order: Math.max(0, time) * RANKS + (status ? RANK[status] : 0),
  };
  const name = nameOf(event.job);
  const parent = parentOf(event);
  if (!parent) {
    await putJob(deps, prefix + runId, {
      name,
      metadata: metadataOf(event),
      // The error of a try that failed is not the message of a job that has succeeded.
      ...(status === "completed" && { message: null, output: { status: "COMPLETE" } }),
      ...content,
      ...(event.eventType === "ABORT" && { abortedAt: at }),
    });
    return;
  }
  const root = await rootOf(deps, prefix, parent, inList);
  const jobId = prefix + root.runId;
  const progress = status === "completed" ? { progress: 100 } : {};
  const report = { ...content, ...progress, stepName: name, at, countsSteps: true };
  const { created, step } = await reportOrCreate(
    () => reportStep(stores, jobId, runId, report),
    () => putJob(deps, jobId, { name: nameOf(root.job) }),
  );
  // A run below this one may name only this one as its parent.
  if (created) await stores.idempotencyKeys.reserve(rootKey(prefix, runId), null, { root: root.runId });
  metrics.reports.inc({ status: step.status });
}

async function putJob(
  { stores, metrics, trace }: Deps,
  jobId: string,
  change: Omit<Parameters<typeof stores.jobs.put>[1], "isQuiet">,
): Promise<void> {
  metrics.countJob(await stores.jobs.put(jobId, { ...change, ...trace, isQuiet: true }));
}

const rootKey = (prefix: string, runId: string): string => `lineage:${JSON.stringify([prefix, runId])}`;

type Parent = NonNullable<NonNullable<RunEvent["run"]["facets"]>["parent"]>;

/** Returns the run that an event's run is part of; undefined if it stands alone. */
function parentOf({ run: { runId, facets } }: RunEvent): Parent | undefined {
  const parent = facets?.parent;
  return parent && (parent.root ?? parent).run.runId !== runId && parent.run.runId !== runId ? parent : undefined;
}

/**
 * Returns the run at the top: the one that the facet names, or that above it in this list and among the runs of a day. A sender
 * that a task of a scheduler starts takes this task for its root.
 */
async function rootOf({ stores }: Deps, prefix: string, parent: Parent, inList: Events) {
  const { run, job } = parent.root ?? parent;
  let top = { runId: run.runId, job };
  const seen = new Set<string>();
  for (let event = inList.get(top.runId); event && !seen.has(top.runId); event = inList.get(top.runId)) {
    seen.add(top.runId);
    const next = parentOf(event);
    if (!next) return top;
    const above = next.root ?? next;
    top = { runId: above.run.runId, job: above.job };
  }
  const known = await stores.idempotencyKeys.find(rootKey(prefix, top.runId));
  return known ? { runId: String(known.ids.root), job: top.job } : top;
}

const cut = (text: string): string => text.slice(0, MAX_NAME).toWellFormed();

/** Returns the name for people: a step needs one that is not empty. */
const nameOf = ({ name, namespace }: { readonly name: string; readonly namespace: string }): string =>
  cut(name) || cut(namespace) || "run";

function metadataOf({ run, job }: RunEvent): Record<string, unknown> {
  const { nominalStartTime, nominalEndTime } = run.facets?.nominalTime ?? {};
  const { processingType, integration, jobType } = job.facets?.jobType ?? {};
  return {
    namespace: cut(job.namespace),
    ...known("nominalTime", { nominalStartTime, nominalEndTime }),
    ...known("jobType", { processingType, integration, jobType }),
  };
}

/** Returns a field with the given texts, cut; empty if none is given. */
function known(field: string, texts: Readonly<Record<string, string | undefined>>) {
  const given = Object.entries(texts).flatMap(([key, value]) => (value === undefined ? [] : [[key, cut(value)]]));
  return given.length > 0 ? { [field]: Object.fromEntries(given) } : {};
}
