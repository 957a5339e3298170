import type { Child } from "./child.ts";
import { agentHookBody, postHook } from "./hooks.ts";
import { type Compared, inTurns, type Turns } from "./measure.ts";
import type { Service } from "./service.ts";
import { databaseUri, type Ours } from "./services.ts";
import { type AnyWorkName, CONNECTIONS, OWN_ROW_NAMES, type OwnRowName, ownRows } from "./works.ts";

/** The figures of one row of the second table at one number of connections, for its two works in their order. */
export interface OwnFigures extends Compared {
  readonly row: OwnRowName;
  readonly connections: (typeof CONNECTIONS)[number];
}

/** Number of runs that are read: the number of the services' jobs. */
const RUNS = 300;
const WARM_UP = { turns: 2, connections: 100 };

/** Compares works of Signalbox with each other and with plain MongoDB; the two works of a row take turns. */
export async function* measureOwn(
  load: Child<true>,
  ours: Ours,
  turns: Turns,
  names: readonly OwnRowName[] = OWN_ROW_NAMES,
): AsyncGenerator<OwnFigures> {
  const mongodb: Service = { name: "MongoDB", url: await databaseUri("inserts"), clear: async () => {} };
  for (const row of names) {
    const runIds = row === "run" ? await addRuns(ours) : [];
    const target = (work: AnyWorkName) => ({ service: work === "insertOne" ? mongodb : ours, work, runIds });
    const targets = ownRows[row].works.map(target);
    await inTurns(load, targets, WARM_UP.connections, { ...turns, turns: Math.min(WARM_UP.turns, turns.turns) });
    for (const connections of CONNECTIONS) {
      yield { row, connections, ...(await inTurns(load, targets, connections, turns)) };
    }
    await ours.clear();
  }
}

async function addRuns(ours: Ours): Promise<string[]> {
  const hooks = Array.from({ length: RUNS }, () => postHook(ours, "/hooks/agent", agentHookBody("now")));
  return (await Promise.all(hooks)).map(({ runId }) => runId);
}
