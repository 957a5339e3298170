import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { eventually } from "../test/support/eventually.ts";
import type { Child } from "./child.ts";
import { JOB_IDS, jobPath } from "./jobs.ts";
import { ask, type Turns } from "./measure.ts";
import { median } from "./quantile.ts";
import { connectionsOf, type Ours } from "./services.ts";

const CONNECTIONS = 10;
const WORKS = ["report", "read"] as const;
/** The default of `server.maxWaiting`. */
const COUNT = 1_000;

/** How long the waiting requests have for their first reads, which are not measured. */
const SETTLE_MS = 1_000;

/** Maximum p99 of other requests while requests wait, divided by the p99 without them. */
export const MAX_RATIO = 1.2;

/** The effect of waiting requests on another work: p99 in milliseconds as medians of the turns. */
export interface WaitingFigures {
  readonly work: (typeof WORKS)[number];
  readonly without: number;
  readonly with: number;
  /** The median of the turns' ratios. */
  readonly ratio: number;
}

/**
 * Measures how requests that wait affect others. They wait for the ends of all jobs of the load, on which the load reports
 * at the same time. Measures in turn with and without them.
 * @throws Error when a request is answered although no job has ended
 */
export async function measureWaiting(
  load: Child<true>,
  ours: Ours,
  { turns, seconds }: Turns,
  count = COUNT,
): Promise<WaitingFigures[]> {
  const figures = WORKS.map((work) => ({ work, without: [] as number[], with: [] as number[] }));
  const measureInto = async (key: "without" | "with") => {
    for (const figure of figures) {
      figure[key].push((await ask(load, ours, { work: figure.work, connections: CONNECTIONS, seconds })).p99);
    }
  };
  for (let turn = 0; turn < turns; turn++) {
    await measureInto("without");
    const before = await connectionsOf(ours);
    const waiting = await Promise.all(Array.from({ length: count }, (_, i) => startWait(ours, i)));
    await pause(SETTLE_MS);
    await measureInto("with");
    const answered = waiting.filter(({ bytesRead }) => bytesRead > 0).length;
    if (answered > 0) throw new Error(`${answered} of ${count} waiting requests were answered before the end of a job`);
    for (const socket of waiting) socket.destroy();
    await eventually(async () => (await connectionsOf(ours)) <= before, "the waiting requests to be gone");
  }
  return figures.map(({ work, without, with: p99s }) => ({
    ...{ work, without: median(without), with: median(p99s) },
    ratio: median(p99s.map((p99, turn) => p99 / without[turn]!)),
  }));
}

async function startWait({ url }: Ours, i: number): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname).resume();
  await once(socket, "connect");
  socket.write(`GET ${jobPath(JOB_IDS[i % JOB_IDS.length]!)} HTTP/1.1\r\nHost: ${hostname}\r\nPrefer: wait=60\r\n\r\n`);
  return socket;
}
