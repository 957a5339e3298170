import type { WorkRequest } from "./connection.ts";
import { agentHookBody, HOOK_HEADERS, wakeHookBody } from "./hooks.ts";
import { JOB_IDS, jobPath, progressReport, runningStepPath } from "./jobs.ts";
import { type Life, lives } from "./lives.ts";

export const CONNECTIONS = [10, 100] as const;

/** The goals for Signalbox divided by naive; an absent ratio has no goal. */
export interface Goal {
  /** Minimum ratio of the requests per second. */
  readonly rate?: number;
  /** Maximum ratio of the p99. */
  readonly p99?: number;
}

export type Goals = Readonly<Record<(typeof CONNECTIONS)[number], Goal>>;

/** A repeated unit of work. */
export type Work = RequestWork | LifeWork | InsertWork;

/** Single requests. */
export interface RequestWork {
  readonly kind: "requests";
  readonly title: string;
  /**
   * Returns the requests that connection `index` of `connections` sends in a cycle.
   * @param runIds the ids of existing runs
   */
  requests(index: number, connections: number, runIds: readonly string[]): WorkRequest[];
  /** Whether each request has a new Idempotency-Key. */
  readonly hasKeys?: true;
  /** Whether requests leave records and queued jobs, which are deleted after every turn. */
  readonly accumulates?: true;
}

/** Whole lives of jobs, which are checked and deleted after every turn. */
interface LifeWork {
  readonly kind: "life";
  readonly title: string;
  readonly life: Life;
}

/** Journaled inserts directly into MongoDB. */
interface InsertWork {
  readonly kind: "inserts";
  readonly title: string;
}

/** Gives each connection jobs of its own, like the workers of an orchestrator. */
const ownJobs = (index: number, connections: number) => JOB_IDS.filter((_, i) => i % connections === index);

const hook = (name: string, body: string): WorkRequest => ({
  method: "POST",
  path: `/hooks/${name}`,
  headers: HOOK_HEADERS,
  body,
});

const STEPS_OF_PROGRESS = Array.from({ length: 19 }, (_, i) => 5 * (i + 1));

/** The goals for the p99 of all works. */
const P99 = { 10: { p99: 1 }, 100: { p99: 0.6 } };
const goals = (ten: number, hundred: number): Goals => ({
  10: { ...P99[10], rate: ten },
  100: { ...P99[100], rate: hundred },
});

/** The rows of the table, which compares with the naive service. */
export const works = {
  pipeline: { kind: "life", title: "pipeline of 5 steps", life: lives.pipeline, goals: goals(1.1, 2.1) },
  fanout: { kind: "life", title: "fan-out, 10 steps", life: lives.fanout, goals: goals(1.15, 2.3) },
  mixed: { kind: "life", title: "pipeline, 3 reads", life: lives.mixed, goals: goals(1.5, 2) },
  report: {
    kind: "requests",
    title: "report (PUT step)",
    goals: P99,
    requests: (index, connections) =>
      STEPS_OF_PROGRESS.flatMap((progress) =>
        ownJobs(index, connections).map((jobId) => ({
          method: "PUT" as const,
          path: runningStepPath(jobId),
          headers: { "Content-Type": "application/json" },
          body: JSON.stringify(progressReport(progress)),
        })),
      ),
  },
  read: {
    kind: "requests",
    title: "read (GET job)",
    goals: goals(1.3, 3),
    requests: (index, connections) =>
      ownJobs(index, connections).map((jobId) => ({ method: "GET" as const, path: jobPath(jobId) })),
  },
  agent: {
    kind: "requests",
    title: "agent hook (POST)",
    goals: goals(1, 1.8),
    requests: () => [hook("agent", agentHookBody("now"))],
    accumulates: true,
  },
  wake: {
    kind: "requests",
    title: "wake hook (POST)",
    goals: goals(1, 2.3),
    requests: () => [hook("wake", wakeHookBody)],
    accumulates: true,
  },
} satisfies Record<string, Work & { readonly goals: Goals }>;

export type WorkName = keyof typeof works;
export const WORK_NAMES = Object.keys(works) as WorkName[];

/** Works that are compared with other works of Signalbox. */
const ownWorks = {
  agentWithKey: { ...works.agent, title: "agent hook with Idempotency-Key", hasKeys: true },
  readRun: {
    kind: "requests",
    title: "GET run",
    requests: (index, connections, runIds) =>
      runIds
        .filter((_, i) => i % connections === index)
        .map((runId) => ({ method: "GET" as const, path: `/api/runs/${runId}` })),
  },
  insertOne: { kind: "inserts", title: "MongoDB insertOne" },
} satisfies Record<string, Work>;

export const allWorks = { ...works, ...ownWorks };
export type AnyWorkName = keyof typeof allWorks;

/** The rows of the second table: requests per second of the first work divided by those of the second. */
export const ownRows = {
  run: { title: "GET run through GET job", works: ["readRun", "read"], goals: { 10: 0.7, 100: 0.7 } },
  key: {
    title: "accept with Idempotency-Key through accept without",
    works: ["agentWithKey", "agent"],
    goals: { 10: 0.75, 100: 0.75 },
  },
  insert: {
    title: "accept through MongoDB's own journaled insertOne",
    works: ["agent", "insertOne"],
    goals: { 10: 0.6, 100: 0.65 },
  },
} as const satisfies Record<string, OwnRow>;

interface OwnRow {
  readonly title: string;
  readonly works: readonly [AnyWorkName, AnyWorkName];
  readonly goals: Readonly<Record<(typeof CONNECTIONS)[number], number>>;
}

export type OwnRowName = keyof typeof ownRows;
export const OWN_ROW_NAMES = Object.keys(ownRows) as OwnRowName[];
