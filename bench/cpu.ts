import { readFileSync } from "node:fs";
import { Redis } from "ioredis";
import { mongo } from "mongoose";
import { mongoUri } from "../test/support/servers/servers.ts";
import type { Child } from "./child.ts";
import { ask } from "./measure.ts";
import type { Service } from "./service.ts";
import type { Naive, Ours } from "./services.ts";
import { WORK_NAMES, type WorkName } from "./works.ts";

/** Processor time for one request in microseconds, by process. */
export type CpuFigures = Readonly<Record<(typeof PROCESSES)[number], number>>;

export const PROCESSES = ["web", "MongoDB", "Redis", "load"] as const;
const CONNECTIONS = 100;
/** The unit of /proc/PID/stat, a hundredth of a second. */
const TICK_US = 10_000;

/** Measures the processor time of each process for a request of each work, with the services in turn. Linux only. */
export async function* measureCpu(
  load: Child<true>,
  [ours, naive]: readonly [Ours, Naive],
  { turns, seconds }: { turns: number; seconds: number },
  names: readonly WorkName[] = WORK_NAMES,
): AsyncGenerator<{ work: WorkName; figures: CpuFigures[] }> {
  const shared = { ...(await serverPids(ours)), load: load.process.pid };
  const pids = [ours.web, naive].map(({ process }) => ({ web: process.pid, ...shared }));
  for (const work of names) {
    const taken = pids.map(() => ({ web: 0, MongoDB: 0, Redis: 0, load: 0 }));
    const requests = pids.map(() => 0);
    for (let turn = 0; turn < turns; turn++) {
      for (const [i, service] of ([ours, naive] as Service[]).entries()) {
        const before = PROCESSES.map((name) => takenBy(pids[i]![name]!));
        const atEnd = () => {
          for (const [k, name] of PROCESSES.entries()) taken[i]![name] += takenBy(pids[i]![name]!) - before[k]!;
        };
        requests[i]! += (await ask(load, service, { work, connections: CONNECTIONS, seconds }, atEnd)).requests;
      }
    }
    const each = (sums: CpuFigures, i: number) =>
      Object.fromEntries(Object.entries(sums).map(([name, sum]) => [name, sum / requests[i]!])) as CpuFigures;
    yield { work, figures: taken.map(each) };
  }
}

async function serverPids({ redis }: Ours): Promise<{ MongoDB: number; Redis: number }> {
  const client = await mongo.MongoClient.connect(await mongoUri("admin"));
  const { pid } = await client.db("admin").command({ serverStatus: 1 });
  await client.close();
  const connection = new Redis(redis);
  const info = await connection.info("server");
  connection.disconnect();
  return { MongoDB: Number(pid), Redis: Number(/^process_id:(\d+)/m.exec(info)?.[1]) };
}

/** Returns the user and system time of a process in microseconds. Source: proc_pid_stat(5). */
function takenBy(pid: number): number {
  const [UTIME, STIME] = [11, 12]; // Positions after the name, which may contain spaces and parentheses.
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)!.split(" ");
  return (Number(fields[UTIME]) + Number(fields[STIME])) * TICK_US;
}
