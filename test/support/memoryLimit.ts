import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { eventually } from "./eventually.ts";

/** A limit of the memory of all processes that enter it: a control group of Linux. */
export interface MemoryLimit {
  /** The commands with which a shell enters it. */
  readonly enter: string;
  /** Ends the processes in it, and removes it. */
  remove(): Promise<void>;
}

/** The folder of control groups, and the file that limits the memory of one, in both versions. */
const HIERARCHIES = [
  ["/sys/fs/cgroup/memory", "memory.limit_in_bytes"],
  ["/sys/fs/cgroup", "memory.max"],
] as const;

/** Limits memory as a container does; undefined where this user is not allowed to. */
export function limitMemory(mib: number, name: string): MemoryLimit | undefined {
  for (const [folder, file] of HIERARCHIES) {
    const group = join(folder, `signalbox-${process.pid}-${name}`);
    try {
      mkdirSync(group);
    } catch {
      continue; // there is no such hierarchy, or only the administrator may do this
    }
    const remove = async () => {
      const pids = () => readFileSync(join(group, "cgroup.procs"), "utf8").split("\n").filter(Boolean).map(Number);
      for (const pid of pids()) process.kill(pid, "SIGKILL");
      await eventually(() => pids().length === 0, "the processes to end");
      rmdirSync(group);
    };
    if (existsSync(join(group, file))) {
      writeFileSync(join(group, file), `${mib}M`);
      return { enter: `echo $$ > ${group}/cgroup.procs; `, remove };
    }
    rmdirSync(group);
  }
  return undefined;
}

/** Returns the largest resident memory of a running process so far, in MiB. Linux only. */
export function peakMiB(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]) / 1_024;
}
