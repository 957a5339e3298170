import { spawn } from "node:child_process";
import { EventEmitter, once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { commandLine, processIdentity } from "../../src/cli/start/processInfo.ts";
import { interrupts } from "../../src/cli/terminal/interrupt.ts";
import { type Running, startInProcess } from "../support/cli.ts";
import { eventually } from "../support/eventually.ts";

const READY_WITHIN_MS = 30_000;

/** `signalbox start` (or another command) as a person runs it. */
export interface Service {
  readonly pid: number;
  /** What it has printed, both streams together. */
  printed(): string;
  /** Waits until it has printed that. */
  prints(what: RegExp): Promise<unknown>;
  /** Reads no more of its standard output. */
  closeOutput(): void;
  /** Waits for the block that says that all is ready; gives the API's address. */
  ready(): Promise<string>;
  kill(signal: NodeJS.Signals): void;
  /** Its exit code, or the signal that ended it, and what it has printed. */
  readonly ended: Promise<{ code: number | string; stdout: string; stderr: string }>;
}

/** A command inside this process that goes on until something happens. */
interface Following extends Running {
  /** Waits until it has printed that. */
  prints(what: RegExp): Promise<unknown>;
  /** Interrupts it as Ctrl-C does. */
  interrupt(): void;
}

/** Starts a command inside this process that follows something. */
export function follow(args: readonly string[], env: Record<string, string>): Following {
  const signals = new EventEmitter();
  const { source } = interrupts;
  interrupts.source = signals;
  const run = startInProcess(args, env);
  const ended = run.ended.finally(() => {
    interrupts.source = source;
  });
  const interrupt = () => void signals.emit("SIGINT", "SIGINT");
  return { ...run, ended, interrupt, prints: (what) => printed(run, what) };
}

async function printed(run: { printed(): string }, what: RegExp): Promise<void> {
  await eventually(() => what.test(run.printed()), `${what} in what it prints`).catch((error: Error) => {
    throw new Error(`${error.message}: ${run.printed()}`);
  });
}

/** Runs a process of a command, such as `config show`, or its words where these have spaces, in an environment that holds nothing but what is given. */
export function runCli(command: string | readonly string[], env: Record<string, string>, cwd = "."): Service {
  return startProgram(resolve("src/cli/main.ts"), typeof command === "string" ? command.split(" ") : command, env, cwd);
}

/** Starts a program of Node in an environment that contains only what is given. */
export function startProgram(path: string, args: readonly string[], env: Record<string, string>, cwd: string): Service {
  const child = spawn(process.execPath, [path, ...args], {
    cwd,
    env: { PATH: process.env.PATH, PORT: "0", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let all = "";
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (chunk) => {
    all += chunk;
    stdout += chunk;
  });
  child.stderr.on("data", (chunk) => {
    all += chunk;
    stderr += chunk;
  });
  const ended = once(child, "close").then(([code, signal]) => ({ code: code ?? signal, stdout, stderr }));
  let over = false;
  void ended.then(() => {
    over = true;
  });
  const ready = async () => {
    await eventually(() => over || all.includes("Ctrl-C"), "the service to be ready", READY_WITHIN_MS);
    const url = all.match(/^ {2}API +(\S+)$/m)?.[1];
    if (!url) throw new Error(`it did not become ready: ${all}`);
    return url;
  };
  const prints = (what: RegExp) => printed({ printed: () => all }, what);
  const closeOutput = () => void child.stdout.destroy();
  const kill = (signal: NodeJS.Signals) => child.kill(signal);
  return { pid: child.pid ?? 0, printed: () => all, prints, closeOutput, ready, kill, ended };
}

export const isRunning = (pid: number): boolean => processIdentity(pid) !== undefined;

/** The processes that the instance in a data directory has started, by what they run. */
export function processesOf(dataDir: string): { web: number; worker: number; redis: number; mongod: number } {
  const file = join(dataDir, "instance.json");
  const { children } = existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : { children: [] };
  const pids = (children as { pid: number }[]).map(({ pid }) => pid).filter(isRunning);
  const find = (word: string) => pids.find((pid) => commandLine(pid).includes(word)) ?? 0;
  return { web: find("api/main"), worker: find("workers/main"), redis: find("redis-server"), mongod: find("mongod ") };
}

/** The server below the shell that watches over it. */
export function mongodPid(dataDir: string): number {
  return Number.parseInt(readFileSync(join(dataDir, "mongodb", "mongod.lock"), "utf8"), 10);
}
