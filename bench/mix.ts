import { randomUUID } from "node:crypto";

/** Tokens and limits of the mixed requests; soak.ts writes a configuration with the same values. */
export const MIX = {
  apiToken: "the-bench-alone-may-call",
  hookToken: "the-bench-alone-rings-here",
  recipient: "bench".padEnd(26, "0"),
  smallBodyBytes: 1_024,
} as const;

/** A request of the mix. */
export interface MixedRequest {
  readonly kind: string;
  readonly method: "GET" | "PUT" | "POST" | "DELETE";
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** The expected statuses. */
  readonly expects: readonly number[];
  /** Whether the response is a stream, which the client closes later. */
  readonly stream?: true;
  /** Called with the body of an expected response. @throws Error when it is wrong */
  onResponse?(text: string): void;
}

type Unnamed = Omit<MixedRequest, "kind">;

/** The share of each kind of request, like practice but with more hooks. Kinds that are named after an error expect it. */
const SHARES = {
  report: 250,
  create: 25,
  delete: 25,
  readJob: 400,
  readSteps: 100,
  listJobs: 40,
  stats: 8,
  listRuns: 8,
  readRun: 20,
  listDeliveries: 6,
  listSessions: 4,
  probes: 30,
  metrics: 1,
  wake: 16,
  agent: 12,
  deliver: 8,
  mapped: 8,
  again: 3,
  invalidJson: 10,
  invalidBody: 10,
  unauthorized: 9,
  noJob: 18,
  conflict: 3,
  tooLarge: 3,
  stream: 5,
  jobStream: 2,
};
type Kind = keyof typeof SHARES;

const KINDS = (Object.keys(SHARES) as Kind[]).flatMap((kind) => Array<Kind>(SHARES[kind]).fill(kind));
const MIN_JOBS = 50;
const MAX_JOBS = 300;
/** Number of completed jobs, runs and idempotency keys that later requests use. */
const KEPT = 100;
const JSON_TYPE = { "Content-Type": "application/json" };
const API = { Authorization: `Bearer ${MIX.apiToken}` };
const WRONG = { Authorization: "Bearer wrong-wrong-wrong-wrong" };
const HOOK = { ...JSON_TYPE, Authorization: `Bearer ${MIX.hookToken}` };

/** Generates requests in a random order that depends on a seed only. Deletes as many jobs as it creates. */
export class Mix {
  /** The numbers of accepted requests, whose effects must exist at the end. */
  readonly accepted = { runs: 0, wakes: 0, deliveries: 0 };
  readonly #random: () => number;
  /** The running jobs: the progress of the last report, and the highest progress of a response. */
  readonly #jobs = new Map<string, { sent: number; answered: number }>();
  readonly #completed: string[] = [];
  readonly #runIds: string[] = [];
  /** The idempotency keys of sent hooks, with their runs. */
  readonly #keys: { key: string; runId: string }[] = [];
  #made = 0;

  constructor(seed: number) {
    this.#random = seeded(seed);
  }

  next(): MixedRequest {
    const kind = this.#possible(this.#pick(KINDS));
    return { kind, ...this.#requests[kind]() };
  }

  /** Returns the jobs that were not deleted, with the highest progress of a response. */
  jobs(): (readonly [jobId: string, progress: number])[] {
    const running = [...this.#jobs].map(([jobId, { answered }]) => [jobId, answered] as const);
    return [...running, ...this.#completed.map((jobId) => [jobId, 100] as const)];
  }

  /** Replaces a kind that would exceed the bounds of the number of jobs or needs a record that does not exist yet. */
  #possible(kind: Kind): Kind {
    const jobs = this.#jobs.size;
    if (jobs < MIN_JOBS && (kind === "create" || kind === "report" || jobs === 0)) return "create";
    if (kind === "create" && jobs >= MAX_JOBS) return "report";
    if (kind === "delete" && this.#completed.length < KEPT) return "report"; // The oldest has no pending requests.
    if (kind === "readRun" && this.#runIds.length === 0) return "agent";
    if ((kind === "again" || kind === "conflict") && this.#keys.length === 0) return "agent";
    return kind;
  }

  readonly #requests: Readonly<Record<Kind, () => Unnamed>> = {
    create: () => this.#create(),
    report: () => this.#report(),
    delete: () => ({ method: "DELETE", path: `/api/jobs/${this.#completed.shift()}`, headers: API, expects: [200] }),
    readJob: () => get(this.#jobPath()),
    readSteps: () => get(`${this.#jobPath()}/steps?limit=20`),
    listJobs: () => get(`/api/jobs?limit=20&status=running&metadata.tenant=tenant-${this.#made % 7}`),
    stats: () => get("/api/stats"),
    listRuns: () => get("/api/runs?limit=20"),
    readRun: () => get(`/api/runs/${this.#pick(this.#runIds)}`),
    listDeliveries: () => get("/api/deliveries?limit=20"),
    listSessions: () => get("/api/sessions?limit=20"),
    probes: () => get(this.#made % 20 ? "/healthz" : "/readyz"),
    metrics: () => get("/metrics"),
    wake: () => ({
      ...post("wake", { text: "The nightly import has ended: 12500 records." }, [200]),
      onResponse: () => void this.accepted.wakes++,
    }),
    agent: () => this.#agent(),
    deliver: () => ({
      ...post("agent", agentBody({ deliver: true, channel: "mattermost", to: MIX.recipient }), [202]),
      onResponse: (text) => {
        this.#addRun(text);
        this.accepted.deliveries++;
      },
    }),
    mapped: () => ({
      ...post("mixed", { text: "A build has failed." }, [202]),
      onResponse: (text) => void this.#addRun(text),
    }),
    again: () => this.#again(),
    invalidJson: () => ({
      ...get(this.#jobPath(), [400]),
      method: "PUT",
      headers: { ...API, ...JSON_TYPE },
      body: "{",
    }),
    invalidBody: () => put(`/api/jobs/refused-${this.#made}`, { progres: 5 }, [400]),
    unauthorized: () => ({ ...get("/api/jobs", [401, 429]), headers: WRONG }),
    noJob: () => get(`/api/jobs/none-${this.#made}`, [404]),
    conflict: () => withKey(this.#pick(this.#keys).key, post("agent", agentBody({ name: "Another" }), [409])),
    tooLarge: () => post("small", { text: "x".repeat(2 * MIX.smallBodyBytes) }, [413]),
    stream: () => ({ ...get("/api/events"), stream: true }),
    jobStream: () => ({ ...get(`${this.#jobPath()}/events`), stream: true }),
  };

  #create(): Unnamed {
    const jobId = `mixed-${++this.#made}`;
    const body = {
      name: `Import ${this.#made}`,
      input: { source: "https://partner.example/exports/1.tar.gz", records: 12_500 },
      metadata: { tenant: `tenant-${this.#made % 7}` },
    };
    const onResponse = () => void this.#jobs.set(jobId, { sent: 0, answered: 0 });
    return { ...put(`/api/jobs/${jobId}`, body, [201]), onResponse };
  }

  /** Returns the next of a job's ten reports; the last one completes it. */
  #report(): Unnamed {
    const jobId = this.#pick([...this.#jobs.keys()]);
    const job = this.#jobs.get(jobId)!;
    job.sent += 10;
    const progress = job.sent;
    const isLast = progress >= 100;
    if (isLast) this.#jobs.delete(jobId);
    const body = {
      stepName: `Step ${progress % 20}`,
      status: isLast ? "completed" : "running",
      message: `${progress * 125} of 12500 records`,
      progress,
      jobProgressStart: 0,
      jobProgressEnd: 100,
      ...(isLast && { output: { records: 12_500 } }),
    };
    const onResponse = () => {
      job.answered = Math.max(job.answered, progress);
      if (isLast) this.#completed.push(jobId);
    };
    return { ...put(`/api/jobs/${jobId}/steps/step-${progress % 20}`, body, [200, 201]), onResponse };
  }

  /** Returns an agent hook with a new key. */
  #agent(): Unnamed {
    const key = randomUUID();
    const onResponse = (text: string) => keep(this.#keys, { key, runId: this.#addRun(text) });
    return { ...withKey(key, post("agent", agentBody(), [202])), onResponse };
  }

  /** Returns an agent hook that was sent before. */
  #again(): Unnamed {
    const { key, runId } = this.#pick(this.#keys);
    const onResponse = (text: string) => {
      const { runId: given } = JSON.parse(text) as { runId: string };
      if (given !== runId) throw new Error(`the hook of key ${key} became run ${runId} and then ${given}`);
    };
    return { ...withKey(key, post("agent", agentBody(), [202])), onResponse };
  }

  #addRun(text: string): string {
    const { runId } = JSON.parse(text) as { runId: string };
    this.accepted.runs++;
    keep(this.#runIds, runId);
    return runId;
  }

  #jobPath(): string {
    return `/api/jobs/${this.#pick([...this.#jobs.keys()])}`;
  }

  #pick<T>(from: readonly T[]): T {
    return from[Math.floor(this.#random() * from.length)] as T;
  }
}

function keep<T>(list: T[], one: T): void {
  list.push(one);
  if (list.length > KEPT) list.shift();
}

const agentBody = (more: object = {}): object => ({
  message: "A new issue was opened in acme/shop by jdoe: the export of March ends after 4096 rows. Find out why.",
  name: "Issues",
  wakeMode: "next-heartbeat",
  deliver: false,
  ...more,
});

function get(path: string, expects: readonly number[] = [200]): Unnamed {
  return { method: "GET", path, headers: API, expects };
}

function put(path: string, body: object, expects: readonly number[]): Unnamed {
  return { method: "PUT", path, headers: { ...API, ...JSON_TYPE }, body: JSON.stringify(body), expects };
}

function post(name: string, body: object, expects: readonly number[]): Unnamed {
  return { method: "POST", path: `/hooks/${name}`, headers: HOOK, body: JSON.stringify(body), expects };
}

function withKey(key: string, hook: Unnamed): Unnamed {
  return { ...hook, headers: { ...hook.headers, "Idempotency-Key": key } };
}

/** Returns a generator of numbers in [0, 1) that depend on the seed only (mulberry32). */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}
