import { eventually } from "../test/support/eventually.ts";
import { Connection } from "./connection.ts";
import { jobPath } from "./lives.ts";
import type { LoadAnswer, LoadTask, Measured } from "./load.ts";
import type { Process, Service, Signalbox } from "./services.ts";
import { median } from "./statistics.ts";
import { agentHook, CONNECTIONS, jobRequests, type Work, type WorkName, works } from "./works.ts";

/** How often and how long the services are measured. */
export interface Turns {
  /** Number of turns of each service for each row and number of connections. */
  readonly turns: number;
  /** Length of a turn. */
  readonly seconds: number;
  /** Turns of each row that are not measured, so that code is compiled and data is cached. */
  readonly warmUpTurns: number;
  /** Number of stored jobs. */
  readonly jobs: number;
}

/** The figures of a row at one number of connections. */
export interface Figures {
  readonly connections: number;
  /** Medians of the turns, of ours and of the other service. */
  readonly ours: Measured;
  readonly other: Measured;
  /** Requests a second of ours divided by those of the other, as the median of the ratios of the turns. */
  readonly ratio: number;
}

/** Maximum concurrent requests that store jobs, check and delete them, or send hooks whose time is not measured. */
const CONCURRENCY = 32;
/** Polling interval. Each poll takes processor time from the measured process. */
const POLL_EVERY_MS = 50;
const RUNS_TIMEOUT_MS = 120_000;

/** Stores jobs with running steps. */
export async function storeJobs({ url }: Service, jobs: number): Promise<void> {
  const numbers = Array.from({ length: jobs }, (_, job) => job);
  await onConnections(url, numbers, async (connection, job) => {
    for (const request of jobRequests(job)) await connection.send(request);
  });
}

async function onConnections<T>(
  url: string,
  items: readonly T[],
  use: (connection: Connection, item: T) => Promise<void>,
): Promise<void> {
  const left = [...items].reverse();
  const work = async () => {
    const connection = await Connection.open(url);
    for (let item = left.pop(); item !== undefined; item = left.pop()) await use(connection, item);
    connection.close();
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, work));
}

/** Measures a row. The services take turns, so that other load of the machine affects both alike. */
export async function measureRow(
  load: Process,
  services: readonly [Service, Service],
  work: WorkName,
  { turns, warmUpTurns, seconds, jobs }: Turns,
): Promise<Figures[]> {
  const task = { work, seconds, jobs };
  for (let turn = 0; turn < warmUpTurns; turn++) {
    for (const service of services) await ask(load, service, { ...task, connections: Math.max(...CONNECTIONS) });
  }
  const rows: Figures[] = [];
  for (const connections of CONNECTIONS) {
    const pairs: [Measured, Measured][] = [];
    for (let turn = 0; turn < turns; turn++) {
      const ours = await ask(load, services[0], { ...task, connections });
      pairs.push([ours, await ask(load, services[1], { ...task, connections })]);
    }
    rows.push({ connections, ...summary(pairs) });
  }
  return rows;
}

function summary(pairs: readonly [Measured, Measured][]): Omit<Figures, "connections"> {
  const mediansOf = (i: 0 | 1): Measured => ({
    perSecond: median(pairs.map((pair) => pair[i].perSecond)),
    p99: median(pairs.map((pair) => pair[i].p99)),
  });
  const ratio = median(pairs.map(([ours, other]) => ours.perSecond / other.perSecond));
  return { ours: mediansOf(0), other: mediansOf(1), ratio };
}

/**
 * Runs one turn of a work.
 * @throws Error when a status was not 2xx, or a job is not completed after its whole life
 */
export async function ask(load: Process, service: Service, task: Omit<LoadTask, "url">): Promise<Measured> {
  load.send({ ...task, url: service.url } satisfies LoadTask);
  const answer = (await load.nextMessage()) as LoadAnswer;
  const { accumulates }: Work = works[task.work];
  if (accumulates) await service.clear();
  if ("failure" in answer) {
    throw new Error(`${service.name}, ${task.work} at ${task.connections} connections: ${answer.failure}`);
  }
  await removeCompleted(service, answer.jobIds);
  return answer.measured;
}

/** Checks and deletes jobs. @throws Error when one is not completed at 100 with an output */
async function removeCompleted({ name, url }: Service, jobIds: readonly string[]): Promise<void> {
  await onConnections(url, jobIds, async (connection, jobId) => {
    const text = await connection.send({ method: "GET", path: jobPath(jobId) });
    const { status, progress, output } = JSON.parse(text);
    if (status !== "completed" || progress !== 100 || !output) {
      throw new Error(`${name} has not completed a job after its whole life: ${text}`);
    }
    await connection.send({ method: "DELETE", path: jobPath(jobId) });
  });
}

/** Returns how many waiting runs of the echo runner one worker completes in a second, and the worker. */
export async function measureRuns(ours: Signalbox, count: number): Promise<{ perSecond: number; worker: Process }> {
  await ours.clear();
  const hooks = Array.from({ length: count }, () => agentHook("next-heartbeat"));
  await onConnections(ours.url, hooks, async (connection, hook) => void (await connection.send(hook)));
  const worker = await ours.startWorker();
  const readyAt = performance.now();
  const runs = ours.database.collection("runs");
  const areCompleted = async () => (await runs.countDocuments({ status: "completed" })) >= count;
  await eventually(areCompleted, `${count} runs to complete`, RUNS_TIMEOUT_MS, POLL_EVERY_MS);
  return { perSecond: count / ((performance.now() - readyAt) / 1_000), worker };
}
