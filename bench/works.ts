import type { WorkRequest } from "./connection.ts";
import { jobPath, type Life, lives, put } from "./lives.ts";

/** The numbers of connections of each row. */
export const CONNECTIONS = [10, 100] as const;

/** The kinds of MongoDB. The first is what `npm start` embeds. */
export const KINDS = { single: "one mongod", set: "replica set" } as const;
export type Kind = keyof typeof KINDS;

/** Requests a second of Signalbox divided by those of the plain service, at 10 and at 100 connections. */
type Goal = readonly [ten: number, hundred: number];

/** A row of the table: whole lives of jobs, or single calls. */
export interface Work {
  readonly title: string;
  readonly goals: Readonly<Record<Kind, Goal>>;
  readonly life?: Life;
  /** Returns the next request of single calls. @param jobs number of stored jobs */
  request?(jobs: number): WorkRequest;
  /** Whether the calls leave records and queued jobs, which are deleted after every turn. */
  readonly accumulates?: true;
}

/** Number of running steps of each stored job. 1,000 jobs have 10,000 steps. */
const STEPS = 10;

/** The token of the hooks. The plain service does not check it. */
export const HOOK_TOKEN = "the-bench-alone-rings-here";
const HOOK_HEADERS = { "Content-Type": "application/json", Authorization: `Bearer ${HOOK_TOKEN}` };

const pathOf = (job: number): string => jobPath(`import-2026-${1_000 + job}`);
const below = (limit: number): number => Math.floor(Math.random() * limit);

/** Returns a report on a running step. */
function report(job: number, step: number, progress: number): WorkRequest {
  return put(`${pathOf(job)}/steps/part-${step}`, {
    stepName: `Part ${step}`,
    status: "running",
    progress,
    message: `${progress * 125} of 12500 records transformed`,
    jobProgressStart: (100 / STEPS) * step,
    jobProgressEnd: (100 / STEPS) * (step + 1),
  });
}

const LINES = Array.from({ length: 100 }, (_, i) => `row ${i} of the partner's export was read and transformed\n`).join(
  "",
);

/** Returns a request that appends a hundred lines to the log of a step. */
function logLines(job: number, step: number): WorkRequest {
  const headers = { "Content-Type": "text/plain" };
  return { method: "POST", path: `${pathOf(job)}/steps/part-${step}/log`, headers, body: LINES };
}

/** Returns the requests that store a job with its running steps, in their order. */
export function jobRequests(job: number): WorkRequest[] {
  const created = put(pathOf(job), {
    name: `Import ${job}`,
    description: "The nightly import of the partner's records.",
    input: { source: `https://partner.example/exports/${job}.tar.gz`, records: 12_500, dryRun: false },
    metadata: { tenant: `tenant-${job % 7}`, priority: "normal", requestedBy: "scheduler" },
  });
  return [created, ...Array.from({ length: STEPS }, (_, step) => report(job, step, 5))];
}

function hook(name: string, body: object): WorkRequest {
  return { method: "POST", path: `/hooks/${name}`, headers: HOOK_HEADERS, body: JSON.stringify(body) };
}

/** Returns an agent hook. @param wakeMode with `now` the main session gets a turn after each run */
export const agentHook = (wakeMode: "now" | "next-heartbeat"): WorkRequest =>
  hook("agent", {
    message:
      "A new issue was opened in acme/shop by jdoe: the export of March ends after 4096 rows, without an error. Find out why, and say in two sentences what to do.",
    name: "Issues",
    wakeMode,
    deliver: false,
  });

const AGENT_HOOK = agentHook("now");
const WAKE_HOOK = hook("wake", {
  text: "The nightly import of the partner's records has ended: 12500 records, 3 of them refused.",
  mode: "now",
});

/** The rows of the table. */
export const works = {
  hot: {
    title: "reports on one step",
    goals: { single: [1, 1.3], set: [1.3, 1.8] },
    request: () => report(0, 0, 1 + below(99)),
  },
  report: {
    title: "reports at random",
    goals: { single: [1.1, 1.6], set: [1.4, 2.2] },
    request: (jobs) => report(below(jobs), below(STEPS), 1 + below(99)),
  },
  log: {
    title: "100 lines of log",
    goals: { single: [0.6, 0.9], set: [0.6, 0.9] },
    request: (jobs) => logLines(below(jobs), below(STEPS)),
  },
  pipeline: {
    title: "pipeline of 5 steps",
    goals: { single: [1.05, 1.8], set: [1.2, 2.3] },
    life: lives.pipeline,
  },
  fanout: {
    title: "fan-out, 10 steps",
    goals: { single: [1.05, 1.9], set: [1.2, 2.5] },
    life: lives.fanout,
  },
  mixed: {
    title: "pipeline with reads",
    goals: { single: [1.4, 2.5], set: [1.6, 3] },
    life: lives.mixed,
  },
  agent: {
    title: "agent hook",
    goals: { single: [1, 1.7], set: [1.1, 2.1] },
    request: () => AGENT_HOOK,
    accumulates: true,
  },
  wake: {
    title: "wake hook",
    goals: { single: [1.2, 2.6], set: [1.2, 3] },
    request: () => WAKE_HOOK,
    accumulates: true,
  },
  read: {
    title: "read of a job",
    goals: { single: [2.2, 4.1], set: [2.2, 4.1] },
    request: (jobs) => ({ method: "GET", path: pathOf(below(jobs)) }),
  },
  logged: {
    title: "reports beside a log",
    goals: { single: [0.7, 1], set: [0.7, 1] },
    request: (jobs) =>
      below(2) === 0 ? logLines(below(jobs), below(STEPS)) : report(below(jobs), below(STEPS), 1 + below(99)),
  },
} satisfies Record<string, Work>;

export type WorkName = keyof typeof works;
export const WORK_NAMES = Object.keys(works) as WorkName[];
