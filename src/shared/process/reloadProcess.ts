import type { ChildProcess } from "node:child_process";

/** How long a process may take to read its configuration again. A busy one ends its requests meanwhile. */
const RELOADS_WITHIN_MS = 30_000;

/**
 * Makes a process that runs by `runProcess` read its configuration again, and waits for the outcome.
 * @returns why the previous configuration stays in effect; undefined if the changed one is, or if the process has ended
 */
export function reloadProcess(child: ChildProcess): Promise<string | undefined> {
  return new Promise((resolve) => {
    const finish = (problem?: string) => {
      clearTimeout(timer);
      child.off("message", onMessage).off("exit", onExit);
      resolve(problem);
    };
    const onMessage = (message: { reloaded?: string | null }) => {
      if (message?.reloaded !== undefined) finish(message.reloaded ?? undefined);
    };
    const onExit = () => finish();
    const timer = setTimeout(finish, RELOADS_WITHIN_MS, "A process has not read its configuration within 30 seconds.");
    child.on("message", onMessage).once("exit", onExit);
    child.kill("SIGHUP");
  });
}
