import { agentHookBody, HOOK_HEADERS, wakeHookBody } from "./hooks.ts";
import { JOB_IDS, jobPath, progressReport, runningStepPath } from "./jobs.ts";

/** One request of the load. */
export interface WorkRequest {
  readonly method: "GET" | "PUT" | "POST";
  readonly path: string;
  readonly headers?: Record<string, string>;
  readonly body?: string;
}

export const CONNECTIONS = [10, 100] as const;

/** What is to be reached: ours through naive. */
export interface Goal {
  /** Requests a second, at least. */
  readonly rate: number;
  /** p99, at most. */
  readonly p99?: number;
}

/** One row of the table: what is asked of every service, again and again. */
export interface Work {
  readonly title: string;
  readonly goals: Readonly<Record<(typeof CONNECTIONS)[number], Goal>>;
  /** The requests that connection `index` of `connections` sends in turn; from the start again after the last. */
  requests(index: number, connections: number): WorkRequest[];
  /** Each request leaves a record and a job on a queue, which are cleared away after every turn. */
  readonly accumulates?: true;
}

/** Each connection works on jobs of its own, like the workers of an orchestrator. */
const ownJobs = (index: number, connections: number) => JOB_IDS.filter((_, i) => i % connections === index);

const hook = (name: string, body: string): WorkRequest => ({
  method: "POST",
  path: `/hooks/${name}`,
  headers: HOOK_HEADERS,
  body,
});

const STEPS_OF_PROGRESS = Array.from({ length: 19 }, (_, i) => 5 * (i + 1));

export const works = {
  report: {
    title: "report (PUT step)",
    goals: { 10: { rate: 1.4 }, 100: { rate: 6, p99: 0.5 } },
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
    title: "read (GET job)",
    goals: { 10: { rate: 1.3 }, 100: { rate: 3 } },
    requests: (index, connections) =>
      ownJobs(index, connections).map((jobId) => ({ method: "GET" as const, path: jobPath(jobId) })),
  },
  agent: {
    title: "agent hook (POST)",
    goals: { 10: { rate: 1 }, 100: { rate: 4 } },
    requests: () => [hook("agent", agentHookBody("now"))],
    accumulates: true,
  },
  wake: {
    title: "wake hook (POST)",
    goals: { 10: { rate: 1 }, 100: { rate: 3 } },
    requests: () => [hook("wake", wakeHookBody)],
    accumulates: true,
  },
} satisfies Record<string, Work>;

export type WorkName = keyof typeof works;
