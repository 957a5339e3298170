import { median } from "./quantile.ts";
import type { Service } from "./service.ts";

export interface Call {
  readonly title: string;
  /** @param i different for each call */
  request(i: number): Request;
}

interface Request {
  readonly method?: "GET" | "PUT" | "DELETE";
  readonly path: string;
  readonly body?: object;
}

export interface CallFigures {
  readonly title: string;
  /** p50 in milliseconds for each service. */
  readonly p50: readonly number[];
}

/** Number of the jobs that the calls use, which exist on both services. */
const KNOWN_JOBS = 100;
const knownJob = (i: number): string => `known-${i % KNOWN_JOBS}`;

const list = (title: string, query: string): Call => ({ title, request: () => ({ path: `/api/jobs?${query}` }) });

/** All calls of job tracking. */
export const CALLS: readonly Call[] = [
  {
    title: "PUT job, new",
    request: (i) => ({
      method: "PUT",
      path: `/api/jobs/new-${i}`,
      body: { name: `New ${i}`, metadata: { batch: "n" } },
    }),
  },
  {
    title: "PUT job, known",
    request: (i) => ({ method: "PUT", path: `/api/jobs/${knownJob(i)}`, body: { message: `seen ${i} times` } }),
  },
  {
    title: "PUT step, new",
    request: (i) => ({ method: "PUT", path: `/api/jobs/${knownJob(i)}/steps/new-${i}`, body: { stepName: "New" } }),
  },
  {
    title: "PUT step, current",
    request: (i) => ({
      method: "PUT",
      path: `/api/jobs/${knownJob(i)}/steps/current`,
      body: { ...STEP, progress: i % 99 },
    }),
  },
  { title: "GET job", request: (i) => ({ path: `/api/jobs/${knownJob(i)}` }) },
  { title: "GET job with a step", request: (i) => ({ path: `/api/jobs/${knownJob(i)}?stepKey=current` }) },
  { title: "GET step", request: (i) => ({ path: `/api/jobs/${knownJob(i)}/steps/current` }) },
  { title: "GET steps", request: (i) => ({ path: `/api/jobs/${knownJob(i)}/steps?limit=5` }) },
  list("GET jobs", "limit=50"),
  list("GET jobs, running", "limit=50&status=running"),
  list("GET jobs by name", "limit=50&name=known"),
  list("GET jobs by metadata", "limit=50&metadata.batch=known"),
  list("GET jobs, not stale", "limit=50&stale=false"),
  { title: "GET stats", request: () => ({ path: "/api/stats" }) },
  { title: "DELETE job", request: (i) => ({ method: "DELETE", path: `/api/jobs/new-${i}` }) },
  { title: "GET /readyz", request: () => ({ path: "/readyz" }) },
];

const STEP = { stepName: "Current", jobProgressStart: 0, jobProgressEnd: 90, message: "under way" };

/**
 * Creates the jobs that the calls use as the newest jobs, each with a running step.
 * @param count the number of times that each call will be made, which limits the number of jobs
 */
export async function addKnownJobs(service: Service, count: number = KNOWN_JOBS): Promise<void> {
  for (let i = 0; i < Math.min(count, KNOWN_JOBS); i++) {
    const path = `/api/jobs/${knownJob(i)}`;
    await send(service, { method: "PUT", path, body: { name: knownJob(i), metadata: { batch: "known" } } });
    await send(service, { method: "PUT", path: `${path}/steps/current`, body: { ...STEP, progress: 1 } });
  }
}

/** Makes each call `times` on every service, in sequence and with the services in turn. */
export async function* compareCalls(
  services: readonly Service[],
  times: number,
  calls: readonly Call[] = CALLS,
): AsyncGenerator<CallFigures> {
  for (const call of calls) {
    const taken: number[][] = services.map(() => []);
    for (let i = 0; i < times; i++) {
      for (const [k, service] of services.entries()) taken[k]!.push((await send(service, call.request(i))).ms);
    }
    yield { title: call.title, p50: taken.map(median) };
  }
}

/** Returns the response's body and the milliseconds until it was read. @throws Error unless the status is 2xx */
export async function send(
  service: Service,
  { method = "GET", path, body }: Request,
): Promise<{ text: string; ms: number }> {
  const started = performance.now();
  const response = await fetch(service.url + path, {
    method,
    headers: {
      ...(service.token !== undefined && { Authorization: `Bearer ${service.token}` }),
      ...(body && { "Content-Type": "application/json" }),
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const ms = performance.now() - started;
  if (response.ok) return { text, ms };
  throw new Error(`${service.name} answered ${method} ${path} with ${response.status}: ${text}`);
}
