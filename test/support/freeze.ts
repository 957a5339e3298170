import { readdirSync, readFileSync } from "node:fs";
import { eventually } from "./eventually.ts";

/**
 * Stops a process with SIGSTOP and resolves once none of its threads runs: until then it may still respond. SIGCONT
 * continues it. Resolves at once on systems without /proc.
 */
export async function freeze(pid: number): Promise<void> {
  process.kill(pid, "SIGSTOP");
  if (process.platform === "linux") await eventually(() => isStopped(pid), `process ${pid} to be stopped`);
}

function isStopped(pid: number): boolean {
  const tasks = `/proc/${pid}/task`;
  return readdirSync(tasks).every((id) => {
    const stat = readFileSync(`${tasks}/${id}/stat`, "utf8");
    return stat[stat.lastIndexOf(")") + 2] === "T"; // The name of a thread may contain parentheses.
  });
}
