import { type ChildProcess, spawn } from "node:child_process";
import { setTimeout as delay } from "node:timers/promises";
import { StartError } from "../../shared/process/lifecycle.ts";
import { reloadProcess } from "../../shared/process/reloadProcess.ts";
import type { Peer } from "../../shared/process/workerMetrics.ts";
import type { DataDirectoryLock } from "./dataDirectoryLock.ts";
import { waitOrKill } from "./embedded/server.ts";
import { heapOptions } from "./heapOptions.ts";
import type { Running } from "./supervised.ts";

const READY_WITHIN_MS = 60_000;

/** A process of this service failed to start and has already printed the reason. */
export class ReportedStartError extends StartError {}

export interface Child extends Running {
  /** The address where it listens, if it does. */
  readonly url: string | undefined;
  /** Its channel of messages. */
  readonly peer: Peer;
}

export interface ChildOptions {
  readonly name: string;
  readonly script: string;
  readonly args?: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly stopsWithinMs: number;
  readonly lock: DataDirectoryLock | undefined;
}

/**
 * Starts a process of this service in a process group of its own and resolves when it sends `{ ready: … }`. The process
 * stops by itself when this one ends.
 * @throws ReportedStartError if it ends with exit code 1 before it is ready: it has printed its reason
 * @throws StartError if it ends otherwise, or does not become ready
 */
export async function launchChild(options: ChildOptions, signal: AbortSignal): Promise<Child> {
  const { name, script, args = [], env, stopsWithinMs, lock } = options;
  const child = spawn(process.execPath, [...heapOptions(env), script, ...args], {
    stdio: ["ignore", "inherit", "inherit", "ipc"],
    env,
    detached: true,
  });
  const exited = new Promise<string>((resolve) => {
    child.once("error", (error) => resolve(error.message));
    child.once("exit", (code, how) => resolve(how ?? `exit code ${code}`));
  });
  const pid = child.pid ?? 0;
  lock?.addChild(pid);
  const stop = async () => {
    child.kill("SIGTERM");
    await waitOrKill(exited, stopsWithinMs, pid);
  };
  const timer = new AbortController();
  const outcome = await Promise.race([
    readiness(child),
    exited,
    delay(READY_WITHIN_MS, "timeout" as const, { signal: AbortSignal.any([signal, timer.signal]) }).catch(
      () => "stopped",
    ),
  ]);
  timer.abort();
  if (typeof outcome === "object")
    return { exited, stop, reload: () => reloadProcess(child), url: outcome.url, peer: child };
  if (outcome === "exit code 1") throw new ReportedStartError(`the ${name} process ended before it was ready`);
  await stop();
  if (outcome === "timeout") throw new StartError(`The ${name} process did not become ready within a minute.`);
  throw new StartError(`The ${name} process ended before it was ready (${outcome}).`);
}

function readiness(child: ChildProcess): Promise<{ url: string | undefined }> {
  return new Promise((resolve) => {
    child.on("message", (message: { ready?: { url?: string } }) => {
      if (message.ready) resolve({ url: message.ready.url });
    });
  });
}
