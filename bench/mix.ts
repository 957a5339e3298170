import { randomUUID } from "node:crypto";

/** Tokens and limits of the mixed requests; mixed.ts writes a configuration with the same values. */
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
  /** Called with a response of an expected status. @throws Error when its body is wrong */
  onResponse?(text: string, status: number): void;
}

/** The accepted requests, whose effects must exist at the end. */
export interface Accepted {
  readonly runs: number;
  readonly wakes: number;
  readonly deliveries: number;
  /** The jobs that were not deleted, with the highest progress of a response. */
  readonly jobs: readonly (readonly [jobId: string, progress: number])[];
}

/** The share of each kind of request; kinds that are named after an error expect that error. */
const SHARES = {
  /** Like practice, but with more hooks, for the workers. */
  soak: {
    ...{
      report: 250,
      create: 25,
      delete: 25,
      readJob: 400,
      readStep: 60,
      readSteps: 40,
      listJobs: 30,
      listFiltered: 10,
    },
    ...{ stats: 8, listRuns: 8, readRun: 20, listDeliveries: 6, listSessions: 4, probes: 30, metrics: 1, document: 2 },
    ...{ wake: 16, agent: 12, deliver: 8, mapped: 8, again: 3 },
    ...{ invalidJson: 10, invalidBody: 10, unauthorized: 6, wrongHookToken: 3, noJob: 12, nowhere: 6 },
    ...{ wrongMethod: 3, conflict: 3, tooLarge: 3, wrongType: 4, stream: 5, jobStream: 2 },
  },
  /** All kinds, but mostly fast ones, so that very many requests can be sent. */
  leak: {
    ...{ report: 80, create: 8, delete: 8, readJob: 180, readStep: 30, readSteps: 10, listJobs: 10, listFiltered: 4 },
    ...{ stats: 3, listRuns: 3, readRun: 12, listDeliveries: 2, listSessions: 2, probes: 250, metrics: 1, document: 2 },
    ...{ wake: 2, agent: 2, deliver: 1, mapped: 1, again: 1 },
    ...{ invalidJson: 80, invalidBody: 60, unauthorized: 10, wrongHookToken: 5, noJob: 30, nowhere: 100 },
    ...{ wrongMethod: 60, conflict: 2, tooLarge: 15, wrongType: 40, stream: 4, jobStream: 2 },
  },
};
export type MixName = keyof typeof SHARES;
type Kind = keyof (typeof SHARES)["soak"];

const MIN_JOBS = 50;
const MAX_JOBS = 300;
const KEPT = 100;
const JSON_TYPE = { "Content-Type": "application/json" };
const API = { Authorization: `Bearer ${MIX.apiToken}` };
const HOOK = { ...JSON_TYPE, Authorization: `Bearer ${MIX.hookToken}` };

/** Generates requests in a random order that depends on a seed only. Deletes as many jobs as it creates. */
export class Mix {
  readonly #random: () => number;
  readonly #kinds: readonly Kind[];
  /** The running jobs: the progress of the next report, and the highest progress of a response. */
  readonly #jobs = new Map<string, { next: number; answered: number }>();
  readonly #over: string[] = [];
  readonly #runIds: string[] = [];
  /** The idempotency keys of sent hooks, with their runs. */
  readonly #keys: { key: string; runId: string }[] = [];
  #made = 0;
  #accepted = { runs: 0, wakes: 0, deliveries: 0 };

  constructor(name: MixName, seed: number) {
    this.#random = seeded(seed);
    const shares = Object.entries(SHARES[name]) as [Kind, number][];
    this.#kinds = shares.flatMap(([kind, share]) => Array<Kind>(share).fill(kind));
  }

  next(): MixedRequest {
    const kind = this.#fit(this.#pick(this.#kinds));
    return { kind, ...this.#requests[kind]() };
  }

  get accepted(): Accepted {
    const over = this.#over.map((jobId) => [jobId, 100] as const);
    return {
      ...this.#accepted,
      jobs: [...[...this.#jobs].map(([id, { answered }]) => [id, answered] as const), ...over],
    };
  }

  /** Replaces a kind that would exceed the bounds of the number of jobs or needs a record that does not exist yet. */
  #fit(kind: Kind): Kind {
    const jobs = this.#jobs.size;
    if (jobs < MIN_JOBS && (kind === "create" || kind === "report" || jobs === 0)) return "create";
    if (kind === "create" && jobs >= MAX_JOBS) return "report";
    if (kind === "delete" && this.#over.length < KEPT) return "report"; // The oldest ended job has no pending requests.
    if (kind === "readRun" && this.#runIds.length === 0) return "agent";
    if ((kind === "again" || kind === "conflict") && this.#keys.length === 0) return "agent";
    return kind;
  }

  readonly #requests: Readonly<Record<Kind, () => Omit<MixedRequest, "kind">>> = {
    create: () => {
      const jobId = `mixed-${++this.#made}`;
      const body = {
        name: `Import ${this.#made}`,
        input: { source: "https://partner.example/exports/1.tar.gz", records: 12_500 },
        metadata: { tenant: `tenant-${this.#made % 7}` },
      };
      const onResponse = () => void this.#jobs.set(jobId, { next: 0, answered: 0 });
      return { ...put(`/api/jobs/${jobId}`, body, [201]), onResponse };
    },
    report: () => this.#report(),
    delete: () => {
      const jobId = this.#over.shift() as string;
      return { method: "DELETE", path: `/api/jobs/${jobId}`, headers: API, expects: [200] };
    },
    readJob: () => this.#ofJob("", 200),
    readStep: () => this.#ofJob("?stepKey=step-0", 200),
    readSteps: () => this.#ofJob("/steps?limit=20", 200),
    listJobs: () => get("/api/jobs?limit=20"),
    listFiltered: () => get(`/api/jobs?limit=20&status=running&metadata.tenant=tenant-${this.#made % 7}`),
    stats: () => get("/api/stats"),
    listRuns: () => get("/api/runs?limit=20"),
    readRun: () => get(`/api/runs/${this.#pick(this.#runIds)}`),
    listDeliveries: () => get("/api/deliveries?limit=20"),
    listSessions: () => get("/api/sessions?limit=20"),
    probes: () => get(this.#made % 20 ? "/healthz" : "/readyz"),
    metrics: () => get("/metrics"),
    document: () => get("/openapi.json"),
    wake: () => {
      const onResponse = () => void this.#accepted.wakes++;
      return { ...post("wake", { text: "The nightly import has ended: 12500 records." }, [200]), onResponse };
    },
    agent: () => {
      const key = randomUUID();
      return { ...this.#agent({ deliver: false }, { "Idempotency-Key": key }, key) };
    },
    deliver: () => this.#agent({ deliver: true, channel: "mattermost", to: MIX.recipient }),
    mapped: () => ({
      ...post("mixed", { text: "A build has failed." }, [202]),
      onResponse: (text) => this.#addRun(text),
    }),
    again: () => {
      const { key, runId } = this.#pick(this.#keys);
      const onResponse = (text: string) => {
        const { runId: given } = JSON.parse(text) as { runId: string };
        if (given !== runId) throw new Error(`the hook of key ${key} became run ${runId} and then ${given}`);
      };
      return { ...post("agent", agentBody({ deliver: false }), [202], { "Idempotency-Key": key }), onResponse };
    },
    invalidJson: () => ({ ...this.#ofJob("", 400), method: "PUT", headers: { ...API, ...JSON_TYPE }, body: "{" }),
    invalidBody: () => ({ ...put(`/api/jobs/refused-${this.#made}`, { progres: 5 }, [400]) }),
    unauthorized: () => ({
      ...get("/api/jobs", [401, 429]),
      headers: { Authorization: "Bearer wrong-wrong-wrong-wrong" },
    }),
    wrongHookToken: () => post("wake", { text: "x" }, [401, 429], { Authorization: "Bearer wrong-wrong-wrong-wrong" }),
    noJob: () => get(`/api/jobs/none-${this.#made}`, [404]),
    nowhere: () => get(`/api/nowhere/${this.#made}`, [404]),
    wrongMethod: () => ({ ...get("/api/jobs", [405]), method: "POST" }),
    conflict: () =>
      post("agent", agentBody({ deliver: false, name: "Another" }), [409], {
        "Idempotency-Key": this.#pick(this.#keys).key,
      }),
    tooLarge: () => post("small", { text: "x".repeat(2 * MIX.smallBodyBytes) }, [413]),
    wrongType: () => ({
      ...put(`/api/jobs/refused-${this.#made}`, {}, [415]),
      headers: { ...API, "Content-Type": "text/plain" },
    }),
    stream: () => ({ ...get("/api/events"), stream: true }),
    jobStream: () => ({ ...this.#ofJob("/events", 200), stream: true }),
  };

  /** Returns the next of a job's ten reports; the last one completes it. */
  #report(): Omit<MixedRequest, "kind"> {
    const jobId = this.#pick([...this.#jobs.keys()]);
    const job = this.#jobs.get(jobId) as { next: number; answered: number };
    job.next += 10;
    const progress = job.next;
    if (progress >= 100) this.#jobs.delete(jobId);
    const body = {
      ...{ stepName: `Step ${progress % 20}`, status: "running", message: `${progress * 125} of 12500 records` },
      ...{ progress, jobProgressStart: 0, jobProgressEnd: 100 },
      ...(progress >= 100 && { status: "completed", output: { records: 12_500 } }),
    };
    const onResponse = () => {
      job.answered = Math.max(job.answered, progress);
      if (progress >= 100) this.#over.push(jobId);
    };
    return { ...put(`/api/jobs/${jobId}/steps/step-${progress % 20}`, body, [200, 201]), onResponse };
  }

  #ofJob(rest: string, status: number): Omit<MixedRequest, "kind"> {
    return get(`/api/jobs/${this.#pick([...this.#jobs.keys()])}${rest}`, [status]);
  }

  #agent(more: object, headers: Record<string, string> = {}, key?: string): Omit<MixedRequest, "kind"> {
    const onResponse = (text: string) => {
      const runId = this.#addRun(text);
      if ("channel" in more) this.#accepted.deliveries++;
      if (key !== undefined) keep(this.#keys, { key, runId });
    };
    return { ...post("agent", agentBody(more), [202], headers), onResponse };
  }

  #addRun(text: string): string {
    const { runId } = JSON.parse(text) as { runId: string };
    this.#accepted.runs++;
    keep(this.#runIds, runId);
    return runId;
  }

  #pick<T>(from: readonly T[]): T {
    return from[Math.floor(this.#random() * from.length)] as T;
  }
}

function keep<T>(list: T[], one: T): void {
  list.push(one);
  if (list.length > KEPT) list.shift();
}

const agentBody = (more: object) => ({
  message: "A new issue was opened in acme/shop by jdoe: the export of March ends after 4096 rows. Find out why.",
  name: "Issues",
  wakeMode: "next-heartbeat",
  ...more,
});

const get = (path: string, expects: readonly number[] = [200]) => ({
  method: "GET" as const,
  path,
  headers: API,
  expects,
});

const put = (path: string, body: object, expects: readonly number[]) => ({
  ...{ method: "PUT" as const, path, headers: { ...API, ...JSON_TYPE }, body: JSON.stringify(body), expects },
});

const post = (name: string, body: object, expects: readonly number[], headers: Record<string, string> = {}) => ({
  ...{ method: "POST" as const, path: `/hooks/${name}`, headers: { ...HOOK, ...headers } },
  ...{ body: JSON.stringify(body), expects },
});

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
