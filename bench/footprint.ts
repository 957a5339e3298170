import { execFileSync } from "node:child_process";
import type { Started } from "./services.ts";

const MIB = 1024;

/** What of a process is in memory, in MiB. */
export function residentMiB({ process: { pid } }: Started): number {
  return Number(execFileSync("ps", ["-o", "rss=", "-p", String(pid)], { encoding: "utf8" })) / MIB;
}

/** Resident memory in MiB, and milliseconds from the start of a process until it works. */
export interface Footprint {
  readonly web: { readonly mib: number; readonly readyAfterMs: number };
  readonly worker: { readonly mib: number; readonly readyAfterMs: number };
}

export const footprint = (web: Started, worker: Started): Footprint => ({
  web: { mib: residentMiB(web), readyAfterMs: web.readyAfterMs },
  worker: { mib: residentMiB(worker), readyAfterMs: worker.readyAfterMs },
});
