import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

const isLinux = process.platform === "linux";

/**
 * What tells a process from a later one with the same id: when it began, and on Linux in which run of the system.
 * Undefined when there is no such process.
 */
export function processIdentity(pid: number): string | undefined {
  return ask(() => {
    if (!isLinux) return ps("lstart", pid);
    const { state, startTime } = stat(pid);
    if (state === "Z") return undefined; // it has ended, and nobody has asked how
    return `${readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()} ${startTime}`;
  });
}

/** The process's command line; empty when there is no such process. */
export function commandLine(pid: number): string {
  const line = ask(() =>
    isLinux ? readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ") : ps("command", pid),
  );
  return line ?? "";
}

/** The process above; undefined when there is no such process. */
export function parentOf(pid: number): number | undefined {
  return ask(() => Number(isLinux ? stat(pid).parent : ps("ppid", pid)));
}

function ask<T>(question: () => T): T | undefined {
  try {
    return question();
  } catch {
    return undefined; // there is no such process
  }
}

function ps(column: string, pid: number): string {
  return execFileSync("ps", ["-o", `${column}=`, "-p", String(pid)], { encoding: "utf8" }).trim();
}

function stat(pid: number): {
  state?: string | undefined;
  parent?: string | undefined;
  startTime?: string | undefined;
} {
  // the second field is a name in brackets that may hold anything
  const [state, parent, ...rest] = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.split(" ") ?? [];
  return { state, parent, startTime: rest[17] };
}
