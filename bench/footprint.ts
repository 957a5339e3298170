import { execFileSync } from "node:child_process";
import { setTimeout as pause } from "node:timers/promises";
import type { Started } from "./services.ts";

const MIB = 1024;

/** Returns the resident memory of a process in MiB. */
function residentMiB({ process: { pid } }: Started): number {
  return Number(execFileSync("ps", ["-o", "rss=", "-p", String(pid)], { encoding: "utf8" })) / MIB;
}

/** Resident memory in MiB after load and after an idle time, and the time to readiness. */
export interface Footprint {
  readonly name: string;
  readonly loadedMiB: number;
  readonly idleMiB: number;
  readonly readyAfterMs: number;
}

/** @param idleMs the idle time before the second measurement */
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
