import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";

const isLinux = process.platform === "linux";

/**
 * Returns a text that distinguishes a process from a later one with the same id: its start time, and on Linux the boot of
 * the system. Returns undefined if there is no such process.
 */
export function processIdentity(pid: number): string | undefined {
  return whileItRuns(() => {
    if (!isLinux) return ps("lstart", pid);
    const { state, startedAt } = readStat(pid);
    if (state === ZOMBIE) return undefined;
    return `${readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()} ${startedAt}`;
  });
}

/** Returns the command line of a process; empty if there is no such process. */
export function commandLine(pid: number): string {
  const line = whileItRuns(() =>
    isLinux ? readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ") : ps("command", pid),
  );
  return line ?? "";
}

/** Returns the id of the parent process; undefined if there is no such process. */
export function parentOf(pid: number): number | undefined {
  return whileItRuns(() => (isLinux ? readStat(pid).parent : Number(ps("ppid", pid))));
}

/** Returns a process and all processes below it. */
export function descendantsOf(pid: number): number[] {
  const found = [pid];
  const parents = parentsOfAll();
  for (const one of found) found.push(...parents.filter(([, parent]) => parent === one).map(([child]) => child));
  return found;
}

/** Returns the ids of all processes, each with that of its parent. */
function parentsOfAll(): (readonly [pid: number, parent: number | undefined])[] {
  if (isLinux) {
    const pids = readdirSync("/proc").map(Number).filter(Number.isInteger);
    return pids.map((pid) => [pid, parentOf(pid)]);
  }
  const lines = execFileSync("ps", ["-A", "-o", "pid=,ppid="], { encoding: "utf8" }).trim().split("\n");
  return lines.map((line) => line.trim().split(/\s+/).map(Number) as [number, number]);
}

/** The state of a process that has ended but was not reaped by its parent. */
const ZOMBIE = "Z";

/**
 * Reads /proc/PID/stat. `startedAt` is in clock ticks since boot. Source: proc_pid_stat(5)
 * @throws if there is no such process
 */
function readStat(pid: number): { state: string; parent: number; startedAt: string } {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  // The name of the program, in brackets before the state, may contain spaces and brackets.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return { state: fields[0] ?? "", parent: Number(fields[1]), startedAt: fields[19] ?? "" };
}

function whileItRuns<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined; // there is no such process
  }
}

function ps(column: string, pid: number): string {
  return execFileSync("ps", ["-o", `${column}=`, "-p", String(pid)], { encoding: "utf8" }).trim();
}
