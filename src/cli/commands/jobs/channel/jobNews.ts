import type { JobSummary } from "../../../../client/client.ts";

/** The news about a job. */
export type News =
  | { readonly event: "completed" | "failed" | "stale"; readonly jobId: string }
  | { readonly event: "gate"; readonly jobId: string; readonly key: string };

/** The state of a job that decides what is new. */
type Known = Pick<JobSummary, "createdAt" | "updatedAt" | "status" | "stale" | "staleAt" | "waitingFor">;

/** Maximum jobs whose state is kept. Of more, those that were seen first are forgotten, ended ones before others. */
const MAX_JOBS = 10_000;

/**
 * Finds what is new in the states of jobs, whether they come as live events or are read after a reconnect: each transition once.
 */
export class JobNews {
  readonly #since: string;
  readonly #jobs = new Map<string, Known>();

  /** @param since jobs created from this time on were running before they are seen for the first time */
  constructor(since: Date) {
    this.#since = since.toISOString();
  }

  /** Takes the state of a job, and returns what has happened since the state before. */
  take({ jobId, createdAt, updatedAt, status, stale, staleAt, waitingFor }: JobSummary): News[] {
    const next = { createdAt, updatedAt, status, stale, staleAt, waitingFor };
    const stored = this.#jobs.get(jobId);
    const isSame = stored?.createdAt === createdAt;
    // A state that was read may be newer than the events that arrive after it.
    if (isSame && updatedAt < stored.updatedAt) return [];
    const before = isSame ? stored : createdAt >= this.#since ? { ...next, ...NEW } : next;
    this.#jobs.delete(jobId);
    this.#jobs.set(jobId, next);
    this.#forgetSome();
    const decided = before.waitingFor.filter((key) => !waitingFor.includes(key));
    return [
      ...(status === "running" ? decided.map((key) => ({ event: "gate" as const, jobId, key })) : []),
      ...(stale && !before.stale ? [{ event: "stale" as const, jobId }] : []),
      ...(status !== "running" && before.status !== status ? [{ event: status, jobId }] : []),
    ];
  }

  /** Returns the jobs whose time without a report is over by now, which no event reports. */
  overdue(now: Date): string[] {
    const time = now.toISOString();
    return [...this.#jobs].flatMap(([jobId, { status, stale, staleAt }]) =>
      status === "running" && !stale && staleAt !== null && staleAt <= time ? [jobId] : [],
    );
  }

  /** Returns the jobs that were running when they were last seen. */
  get running(): string[] {
    return [...this.#jobs].flatMap(([jobId, { status }]) => (status === "running" ? [jobId] : []));
  }

  #forgetSome(): void {
    if (this.#jobs.size <= MAX_JOBS) return;
    const ended = [...this.#jobs].find(([, { status }]) => status !== "running");
    this.#jobs.delete(ended?.[0] ?? (this.#jobs.keys().next().value as string));
  }
}

/** A job before its first report. */
const NEW = { status: "running", stale: false, waitingFor: [] as string[] } as const;
