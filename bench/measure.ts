import type { Child } from "./child.ts";
import type { LoadAnswer, LoadTask, Measured } from "./load.ts";
import type { Service } from "./services.ts";
import { type Work, type WorkName, works } from "./works.ts";

const CONNECTIONS = [10, 100] as const;
export const TURNS = 5;
const WARM_UP = { turns: 2, connections: 100 } as const;

/** What one work came to at one number of connections, for each service in the order given. */
export interface Row {
  readonly work: WorkName;
  readonly connections: number;
  readonly figures: readonly Measured[];
}

const NAMES = Object.keys(works) as WorkName[];

/** Lets every service do every work once without counting, so that both are compiled and their data is in memory. */
export async function warmUp(load: Child<true>, services: readonly Service[], seconds: number): Promise<void> {
  for (let turn = 0; turn < WARM_UP.turns; turn++) {
    for (const work of NAMES) {
      for (const service of services) await ask(load, service, { work, connections: WARM_UP.connections, seconds });
    }
  }
}

/**
 * The services take turns, so that what else the machine does meets all of them alike; each figure is the median of its
 * turns.
 */
export async function* measure(load: Child<true>, services: readonly Service[], seconds: number): AsyncGenerator<Row> {
  for (const work of NAMES) {
    for (const connections of CONNECTIONS) {
      const turns: Measured[][] = services.map(() => []);
      for (let turn = 0; turn < TURNS; turn++) {
        for (const [i, service] of services.entries()) {
          turns[i]!.push(await ask(load, service, { work, connections, seconds }));
        }
      }
      yield { work, connections, figures: turns.map(medians) };
    }
  }
}

/** One turn of a work. @throws Error when anything but 2xx was answered */
export async function ask(load: Child<true>, service: Service, task: Omit<LoadTask, "url">): Promise<Measured> {
  load.process.send({ ...task, url: service.url } satisfies LoadTask);
  const answer = (await load.nextMessage()) as LoadAnswer;
  const { accumulates }: Work = works[task.work];
  if (accumulates) await service.clear();
  if ("measured" in answer) return answer.measured;
  throw new Error(`${service.name}, ${task.work} at ${task.connections} connections: ${answer.failure}`);
}

function medians(turns: readonly Measured[]): Measured {
  const median = (key: keyof Measured) => turns.map((turn) => turn[key]).sort((a, b) => a - b)[turns.length >> 1]!;
  return { perSecond: median("perSecond"), p50: median("p50"), p99: median("p99") };
}
