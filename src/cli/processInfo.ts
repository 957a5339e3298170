import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { readProcess } from "../shared/processFamily.ts";

const isLinux = process.platform === "linux";

/**
 * What tells a process from a later one with the same id: when it began, and on Linux in which run of the system.
 * Undefined when there is no such process.
 */
export function processIdentity(pid: number): string | undefined {
  return ask(() => {
    if (!isLinux) return ps("lstart", pid);
    const found = readProcess(pid);
    if (!found || found.state === "Z") return undefined;
    return `${readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()} ${found.startedAt}`;
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
  return isLinux ? readProcess(pid)?.parent : ask(() => Number(ps("ppid", pid)));
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
