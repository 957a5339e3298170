import type { Child } from "./child.ts";
import { inTurns, type Turns } from "./measure.ts";
import type { Service } from "./service.ts";
import { CONNECTIONS } from "./works.ts";

/** Reads per second with one and with two web processes on the port, by number of connections. */
export type ProcessFigures = readonly { readonly connections: number; readonly one: number; readonly two: number }[];

/** Compares two APIs on the same database in turn: one process and two. */
export async function measureProcesses(
  load: Child<true>,
  [one, two]: readonly [Service, Service],
  turns: Turns,
): Promise<ProcessFigures> {
  const figures: { connections: number; one: number; two: number }[] = [];
  const targets = [one, two].map((service) => ({ service, work: "read" as const }));
  await inTurns(load, targets, 100, { turns: 2, seconds: turns.seconds }); // Warms both up.
  for (const connections of CONNECTIONS) {
    const [a, b] = (await inTurns(load, targets, connections, turns)).figures;
    figures.push({ connections, one: a!.perSecond, two: b!.perSecond });
  }
  return figures;
}
