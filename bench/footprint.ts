import { execFileSync } from "node:child_process";
import { setTimeout as pause } from "node:timers/promises";
import type { Started } from "./services.ts";

const MIB = 1024;

/** What of a process is in memory, in MiB. */
function residentMiB({ process: { pid } }: Started): number {
  return Number(execFileSync("ps", ["-o", "rss=", "-p", String(pid)], { encoding: "utf8" })) / MIB;
}

/** Resident memory in MiB: under load, and once there has been nothing to do for a while; and the start. */
export interface Footprint {
  readonly name: string;
  readonly loadedMiB: number;
  readonly idleMiB: number;
  readonly readyAfterMs: number;
}

/** @param idleMs how long nothing is asked of the processes before they are looked at again */
export async function measureFootprints(
  processes: Readonly<Record<string, Started>>,
  idleMs: number,
): Promise<Footprint[]> {
  const loaded = Object.entries(processes).map(([name, started]) => ({
    name,
    started,
    loadedMiB: residentMiB(started),
  }));
  await pause(idleMs);
  return loaded.map(({ started, ...one }) => {
    return { ...one, idleMiB: residentMiB(started), readyAfterMs: started.readyAfterMs };
  });
}
