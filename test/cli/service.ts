import { spawn } from "node:child_process";
import { EventEmitter, once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { commandLine, processIdentity } from "../../src/cli/start/processInfo.ts";
import { interrupts } from "../../src/cli/terminal/interrupt.ts";
import { type Running, startInProcess } from "../support/cli.ts";
import { eventually } from "../support/eventually.ts";

const READY_WITHIN_MS = 60_000;

/** `signalbox start` (or another command) as a person runs it. */
export interface Service {
  readonly pid: number;
  /** Returns the output so far, of both streams together. */
  printed(): string;
  /** Waits until its output matches. */
  prints(what: RegExp): Promise<unknown>;
  /** Stops reading its standard output. */
  closeOutput(): void;
  /** Waits for the start block and returns the address of the API. */
  ready(withinMs?: number): Promise<string>;
  kill(signal: NodeJS.Signals): void;
  /** Resolves with its exit code, or the signal that ended it, and its output. */
  readonly ended: Promise<{ code: number | string; stdout: string; stderr: string }>;
}

/** A command inside this process that runs until it is interrupted or its subject ends. */
interface Following extends Running {
  /** Waits until its output matches. */
  prints(what: RegExp): Promise<unknown>;
  /** Interrupts it as Ctrl-C does. */
  interrupt(): void;
}

/** Starts a command inside this process that follows a job or a run. */
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

/**
 * Starts a process of a command, given as a text such as `config show`, or as its words if they contain spaces. Its
 * environment contains only PATH, PORT=0 and the given variables.
 */
export function runCli(command: string | readonly string[], env: Record<string, string>, cwd = "."): Service {
  const words = typeof command === "string" ? command.split(" ") : command;
  return startCommand(process.execPath, [resolve("src/cli/main.ts"), ...words], env, cwd);
}

/**
 * Runs a line of shell, such as one of the Procfile, in an environment that contains only what is given.
 * @param before commands of the shell before it
 */
export const startShell = (line: string, env: Record<string, string>, cwd: string, before = ""): Service =>
  startCommand("sh", ["-c", `${before}exec ${line}`], env, cwd);

function startCommand(command: string, args: readonly string[], env: Record<string, string>, cwd: string): Service {
  const child = spawn(command, args, {
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
  const ready = async (withinMs = READY_WITHIN_MS) => {
    await eventually(() => over || all.includes("Ctrl-C"), "the service to be ready", withinMs);
    const url = all.match(/^ {2}Open (\S+)$/m)?.[1];
    if (!url) throw new Error(`it did not become ready: ${all}`);
    return url;
  };
  const prints = (what: RegExp) => printed({ printed: () => all }, what);
  const closeOutput = () => void child.stdout.destroy();
  const kill = (signal: NodeJS.Signals) => child.kill(signal);
  return { pid: child.pid ?? 0, printed: () => all, prints, closeOutput, ready, kill, ended };
}

export const isRunning = (pid: number): boolean => processIdentity(pid) !== undefined;

/** Returns the process ids that the instance in a data directory has started; 0 for one that does not run. */
export function processesOf(dataDir: string): { web: number; worker: number; redis: number; mongod: number } {
  const file = join(dataDir, "instance.json");
  const { children } = existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : { children: [] };
  const pids = (children as { pid: number }[]).map(({ pid }) => pid).filter(isRunning);
  const find = (word: string) => pids.find((pid) => commandLine(pid).includes(word)) ?? 0;
  return { web: find("api/main"), worker: find("workers/main"), redis: find("redis-server"), mongod: find("mongod ") };
}

/** Returns the id of mongod itself, which runs below a shell that ends it. */
export function mongodPid(dataDir: string): number {
  return Number.parseInt(readFileSync(join(dataDir, "mongodb", "mongod.lock"), "utf8"), 10);
}
