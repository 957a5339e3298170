import { type ChildProcess, spawn } from "node:child_process";
import { setTimeout as delay } from "node:timers/promises";
import { StartError } from "../../shared/lifecycle.ts";
import { endsWithin } from "./embedded/server.ts";
import type { Instance } from "./instance.ts";
import type { Running } from "./supervised.ts";

const READY_WITHIN_MS = 60_000;

/** A process of this service did not come up, and has already told why. */
export class ChildFailed extends StartError {}

export interface Child extends Running {
  /** Where it listens, when it does. */
  readonly url: string | undefined;
}

export interface ChildOptions {
  readonly name: string;
  readonly script: string;
  readonly args?: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly stopsWithinMs: number;
  readonly instance: Instance | undefined;
}

/**
 * Options of Node for the web and the worker process, as in package.json and the Dockerfile: half the memory under load, at
 * the same speed. Where the heap may grow to several GiB, Node grows it fourfold before it collects garbage.
 */
export const HEAP_OPTIONS = ["--max-old-space-size=1024", "--max-semi-space-size=8"];

/**
 * Starts a process of this service in a process group of its own; resolves when it says `{ ready: … }`. It stops by
 * itself when this process is gone.
 * @throws ChildFailed when it ends before it is ready, with exit code 1: it has printed its reason
 * @throws StartError when it ends otherwise, or does not become ready
 */
export async function launchChild(options: ChildOptions, signal: AbortSignal): Promise<Child> {
  const { name, script, args = [], env, stopsWithinMs, instance } = options;
  const child = spawn(process.execPath, [...HEAP_OPTIONS, script, ...args], {
    stdio: ["ignore", "inherit", "inherit", "ipc"],
    env,
    detached: true,
  });
  const exited = new Promise<string>((resolve) => {
    child.once("error", (error) => resolve(error.message));
    child.once("exit", (code, how) => resolve(how ?? `exit code ${code}`));
  });
  const pid = child.pid ?? 0;
  instance?.started(pid);
  const stop = async () => {
    child.kill("SIGTERM");
    await endsWithin(exited, stopsWithinMs, pid);
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
  const forward = (name: NodeJS.Signals) => void child.kill(name);
  if (typeof outcome === "object") return { exited, stop, signal: forward, url: outcome.url };
  if (outcome === "exit code 1") throw new ChildFailed(`the ${name} process ended before it was ready`);
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
