import { send } from "./calls.ts";
import type { Child } from "./child.ts";
import { jobPath } from "./jobs.ts";
import type { LoadAnswer, Measured } from "./load.ts";
import type { LoadTask } from "./loadTask.ts";
import { median, medians } from "./quantile.ts";
import type { Service } from "./service.ts";
import { type AnyWorkName, allWorks, CONNECTIONS, WORK_NAMES, type Work, type WorkName } from "./works.ts";

const WARM_UP_CONNECTIONS = 100;
const WARM_UP_TURNS = 2;
/** Maximum concurrent requests that check and delete jobs after a turn. */
const CHECKS = 32;

/** The figures of one work at one number of connections, for each service in the given order. */
export interface Row extends Compared {
  readonly work: WorkName;
  readonly connections: (typeof CONNECTIONS)[number];
}

/** Runs every work on every service without measuring, so that code is compiled and data is cached. */
export async function warmUp(
  load: Child<true>,
  services: readonly Service[],
  seconds: number,
  names: readonly WorkName[] = WORK_NAMES,
): Promise<void> {
  for (let turn = 0; turn < WARM_UP_TURNS; turn++) {
    for (const work of names) {
      for (const service of services) await ask(load, service, { work, connections: WARM_UP_CONNECTIONS, seconds });
    }
  }
}

/** Measures the works. The services take turns, so that other load of the machine affects all of them alike. */
export async function* measure(
  load: Child<true>,
  services: readonly Service[],
  turns: Turns,
  names: readonly WorkName[] = WORK_NAMES,
): AsyncGenerator<Row> {
  for (const work of names) {
    for (const connections of CONNECTIONS) {
      const targets = services.map((service) => ({ service, work }));
      yield { work, connections, ...(await inTurns(load, targets, connections, turns)) };
    }
  }
}

export interface Turns {
  readonly turns: number;
  readonly seconds: number;
}

/** A work and its service. */
export interface Target extends Pick<LoadTask, "runIds"> {
  readonly service: Service;
  readonly work: AnyWorkName;
}

export interface Compared {
  /** Medians of the turns, for each target. */
  readonly figures: readonly Measured[];
  /** The first target divided by the second, as medians of the turns' ratios. */
  readonly ratio: { readonly rate: number; readonly p99: number };
}

/** Measures the targets in turn. */
export async function inTurns(
  load: Child<true>,
  targets: readonly Target[],
  connections: number,
  { turns, seconds }: Turns,
): Promise<Compared> {
  const measured: Measured[][] = targets.map(() => []);
  for (let turn = 0; turn < turns; turn++) {
    for (const [i, { service, ...task }] of targets.entries()) {
      measured[i]!.push(await ask(load, service, { ...task, connections, seconds }));
    }
  }
  const [first, second] = measured as [Measured[], Measured[]];
  const ratioOf = (key: "perSecond" | "p99") => median(first.map((turn, i) => turn[key] / second[i]![key]));
  return {
    figures: measured.map((turns) => medians(turns, ["requests", "perSecond", "p50", "p99"])),
    ratio: { rate: ratioOf("perSecond"), p99: ratioOf("p99") },
  };
}

/**
 * Runs one turn of a work.
 * @param atEnd called after the last response, before the work's records are deleted
 * @throws Error when a status was not 2xx, or a job is not completed after its whole life
 */
export async function ask(
  load: Child<true>,
  service: Service,
  task: Omit<LoadTask, "url">,
  atEnd = () => {},
): Promise<Measured> {
  load.process.send({ ...task, url: service.url } satisfies LoadTask);
  const answer = (await load.nextMessage()) as LoadAnswer;
  atEnd();
  const work: Work = allWorks[task.work];
  if (work.kind === "requests" && work.accumulates) await service.clear();
  if ("failure" in answer) {
    throw new Error(`${service.name}, ${task.work} at ${task.connections} connections: ${answer.failure}`);
  }
  await checkCompleted(service, answer.jobIds);
  return answer.measured;
}

/** Checks and deletes the jobs. @throws Error when one is not completed at 100 with an output */
async function checkCompleted(service: Service, jobIds: readonly string[]): Promise<void> {
  const left = [...jobIds];
  const check = async () => {
    for (let jobId = left.pop(); jobId; jobId = left.pop()) {
      const { text } = await send(service, { path: jobPath(jobId) });
      const { status, progress, output } = JSON.parse(text);
      if (status !== "completed" || progress !== 100 || !output) {
        throw new Error(`${service.name} has not completed a job after its whole life: ${text}`);
      }
      await send(service, { method: "DELETE", path: jobPath(jobId) });
    }
  };
  await Promise.all(Array.from({ length: CHECKS }, check));
}
