/** The fields of a notification's data that titles and texts show. Only the records that it is about are present. */
export interface ShownData {
  readonly job: {
    readonly jobId: string;
    readonly name: string | null;
    readonly message: string | null;
    readonly progress: number;
    readonly createdAt: string;
    readonly lastReportAt: string | null;
    readonly currentStep: { readonly stepName: string } | null;
    readonly links: readonly { readonly title: string; readonly url: string }[];
  };
  /** For a slow job: how long it has run, and how long jobs of its name usually take. */
  readonly elapsedMs?: number;
  readonly usual?: { readonly p50Ms: number } | null;
  readonly reason?: string;
  /** The last lines of the logs of a failed job. */
  readonly log?: readonly string[];
  readonly gate: {
    readonly title: string;
    readonly message: string | null;
    readonly action: GateAction | null;
    readonly expiresAt: string | null;
    readonly onExpiry: GateAction;
  };
  readonly run: {
    readonly runId: string;
    readonly name: string | null;
    readonly error: { readonly message: string } | null;
  };
  readonly budget: { readonly id: string; readonly used: string };
  readonly delivery: { readonly channel: string; readonly reason: string | null };
  readonly expect: { readonly name: string };
  readonly lastSeenAt?: string | null;
  readonly rule: string;
}

export type GateAction = "accept" | "decline" | "cancel";

/** The subjects of notifications. */
interface Subject {
  /** Returns the name with which a title begins. */
  name(data: ShownData): string;
  /** Returns the path of its page in the dashboard. */
  path(data: ShownData): string;
}

const JOB: Subject = {
  name: ({ job }) => job.name ?? job.jobId,
  path: ({ job }) => `/jobs/${encodeURIComponent(job.jobId)}`,
};

/** The subjects of notifications. A notification about a gate contains its job too. */
export const SUBJECTS = {
  job: JOB,
  gate: JOB,
  run: { name: ({ run }) => run.name ?? "The agent run", path: ({ run }) => `/runs/${encodeURIComponent(run.runId)}` },
  delivery: { name: ({ delivery }) => `A delivery to ${delivery.channel}`, path: () => "/deliveries" },
  expectation: { name: ({ expect }) => expect.name, path: () => "/" },
  rule: { name: ({ rule }) => `The rule ${rule}`, path: () => "/" },
} as const satisfies Record<string, Subject>;
