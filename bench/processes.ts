import type { Child } from "./child.ts";
import { inTurns, type Turns } from "./measure.ts";
import type { Ours } from "./services.ts";
import { CONNECTIONS } from "./works.ts";

/** Reads a second with two web processes on the port through those with one, at so many connections. */
export type ProcessFigures = readonly { readonly connections: number; readonly one: number; readonly two: number }[];

/** Starts two more APIs on the same database, one with two processes, and has them take turns. */
export async function measureProcesses(load: Child<true>, ours: Ours, turns: Turns): Promise<ProcessFigures> {
  const one = await ours.startWeb();
  const two = await ours.startWeb({ WEB_CONCURRENCY: "2" });
  const figures: { connections: number; one: number; two: number }[] = [];
  await inTurns(load, [one, two], { work: "read", connections: 100 }, { turns: 2, seconds: turns.seconds }); // warm
  for (const connections of CONNECTIONS) {
    const [a, b] = await inTurns(load, [one, two], { work: "read", connections }, turns);
    figures.push({ connections, one: a!.perSecond, two: b!.perSecond });
  }
  await Promise.all([one.stop(), two.stop()]);
  return figures;
}
