import { readdirSync, readFileSync } from "node:fs";
import { eventually } from "./eventually.ts";

/**
 * Stops a process with SIGSTOP and resolves once none of its threads runs any more: until then it may still answer. SIGCONT
 * lets it go on. Where the system has no /proc, it resolves at once.
 */
export async function freeze(pid: number): Promise<void> {
  process.kill(pid, "SIGSTOP");
  if (process.platform === "linux") await eventually(() => isStopped(pid), `process ${pid} to be stopped`);
}

function isStopped(pid: number): boolean {
  const tasks = `/proc/${pid}/task`;
  return readdirSync(tasks).every((id) => {
    const stat = readFileSync(`${tasks}/${id}/stat`, "utf8");
    return stat[stat.lastIndexOf(")") + 2] === "T"; // the name of a thread may hold anything
  });
}
