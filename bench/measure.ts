import type { Child } from "./child.ts";
import type { LoadAnswer, LoadTask, Measured } from "./load.ts";
import { medians } from "./quantile.ts";
import type { Service } from "./services.ts";
import { CONNECTIONS, type Work, type WorkName, works } from "./works.ts";

const WARM_UP_CONNECTIONS = 100;
const WARM_UP_TURNS = 2;

/** What one work came to at one number of connections, for each service in the order given. */
export interface Row {
  readonly work: WorkName;
  readonly connections: (typeof CONNECTIONS)[number];
  readonly figures: readonly Measured[];
}

const NAMES = Object.keys(works) as WorkName[];

/** Lets every service do every work once without counting, so that both are compiled and their data is in memory. */
export async function warmUp(load: Child<true>, services: readonly Service[], seconds: number): Promise<void> {
  for (let turn = 0; turn < WARM_UP_TURNS; turn++) {
    for (const work of NAMES) {
      for (const service of services) await ask(load, service, { work, connections: WARM_UP_CONNECTIONS, seconds });
    }
  }
}

/**
 * The services take turns, so that what else the machine does meets all of them alike; each figure is the median of its
 * turns.
 */
export async function* measure(load: Child<true>, services: readonly Service[], turns: Turns): AsyncGenerator<Row> {
  for (const work of NAMES) {
    for (const connections of CONNECTIONS) {
      yield { work, connections, figures: await inTurns(load, services, { work, connections }, turns) };
    }
  }
}

export interface Turns {
  readonly turns: number;
  readonly seconds: number;
}

/** One work at one number of connections, asked of each service in turn. */
export async function inTurns(
  load: Child<true>,
  services: readonly Service[],
  task: Omit<LoadTask, "url" | "seconds">,
  { turns, seconds }: Turns,
): Promise<Measured[]> {
  const measured: Measured[][] = services.map(() => []);
  for (let turn = 0; turn < turns; turn++) {
    for (const [i, service] of services.entries()) measured[i]!.push(await ask(load, service, { ...task, seconds }));
  }
  return measured.map((turns) => medians(turns, ["requests", "perSecond", "p50", "p99"]));
}

/**
 * One turn of a work.
 * @param atEnd is called when the last answer has come, before what the work has left is cleared away
 * @throws Error when anything but 2xx was answered
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
  const { accumulates }: Work = works[task.work];
  if (accumulates) await service.clear();
  if ("measured" in answer) return answer.measured;
  throw new Error(`${service.name}, ${task.work} at ${task.connections} connections: ${answer.failure}`);
}
