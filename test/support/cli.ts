import { AsyncLocalStorage } from "node:async_hooks";
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { runCommandLine } from "../../src/cli/run.ts";
import { standardInput } from "../../src/cli/terminal/readInput.ts";

interface CommandResult {
  /** The exit code that a process would have had. */
  readonly code: number | string;
  readonly stdout: string;
  readonly stderr: string;
}

interface RunOptions {
  /** Standard input, empty by default. A stream may stay open like a terminal; the file `-` reads a text only. */
  readonly input?: string | Readable;
  readonly cwd?: string;
}

/** A command that runs in this process. */
export interface Running {
  /** Its output so far, of both streams. */
  printed(): string;
  readonly ended: Promise<CommandResult>;
}

/** Separates the output of the running command from that of other code. */
const command = new AsyncLocalStorage<(name: "stdout" | "stderr", text: string) => void>();

/** Restores the process's globals after the command, or after a failed test has left a command waiting. */
let restoreGlobals = () => {};

/**
 * Runs a command in this process, which saves the start of one. Its environment contains only PATH, PORT=0 and the
 * given variables; it has no terminal, and its output is captured. Only one command runs at a time. Tests of signals,
 * of a terminal and of processes that outlive the command need a process: `runCli` in test/cli/service.ts.
 */
export function startInProcess(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  { input = "", cwd = "." }: RunOptions = {},
): Running {
  restoreGlobals();
  const undo = [changeDirectory(cwd), replaceStdin(input), clearForcedColour(), clearExitCode()];
  for (const name of ["stdout", "stderr"] as const) undo.push(captureOutput(name));
  const undoOnce = () => {
    for (const restore of undo.splice(0).reverse()) restore();
  };
  restoreGlobals = undoOnce;

  let all = "";
  const printed = { stdout: "", stderr: "" };
  const append = (name: "stdout" | "stderr", text: string) => {
    all += text;
    printed[name] += text;
  };
  const variables = { PATH: process.env.PATH, PORT: "0", ...env };
  const ended = command.run(append, async () => {
    try {
      await runCommandLine(args, async () => variables);
      return { code: process.exitCode ?? 0, ...printed };
    } finally {
      undoOnce();
    }
  });
  return { printed: () => all, ended };
}

/** Runs a command in this process and waits for its end. */
export const runInProcess = (...run: Parameters<typeof startInProcess>): Promise<CommandResult> =>
  startInProcess(...run).ended;

/** Replaces a property of an object. Returns a function that restores it. */
function replace<T extends object>(object: T, name: keyof T, value: unknown): () => void {
  const before = Object.getOwnPropertyDescriptor(object, name);
  Object.defineProperty(object, name, { value, configurable: true, writable: true });
  return () => {
    if (before) Object.defineProperty(object, name, before);
    else delete object[name];
  };
}

/** Captures the command's output to a stream that is not a terminal. */
function captureOutput(name: "stdout" | "stderr"): () => void {
  const stream = process[name];
  const write = stream.write.bind(stream) as (...args: unknown[]) => boolean;
  const undo = [
    replace(stream, "isTTY", false),
    replace(stream, "write", (chunk: string | Uint8Array, ...rest: unknown[]) => {
      const append = command.getStore();
      if (!append) return write(chunk, ...rest);
      append(name, typeof chunk === "string" ? chunk : Buffer.from(chunk).toString("utf8"));
      const written = rest.at(-1);
      if (typeof written === "function") process.nextTick(written);
      return true;
    }),
  ];
  return () => {
    for (const restore of undo) restore();
  };
}

function clearExitCode(): () => void {
  const { exitCode } = process;
  process.exitCode = undefined;
  return () => {
    process.exitCode = exitCode;
  };
}

function replaceStdin(input: string | Readable): () => void {
  const dir = mkdtempSync(join(tmpdir(), "signalbox-input-"));
  const file = join(dir, "input");
  writeFileSync(file, typeof input === "string" ? input : "");
  const { fd } = standardInput;
  standardInput.fd = openSync(file, "r");
  const stream = typeof input === "string" ? Readable.from(input === "" ? [] : [input]) : input;
  const restore = replace(process, "stdin", stream);
  return () => {
    restore();
    closeSync(standardInput.fd);
    standardInput.fd = fd;
    rmSync(dir, { recursive: true });
  };
}

function changeDirectory(cwd: string): () => void {
  const before = process.cwd();
  process.chdir(cwd);
  return () => process.chdir(before);
}

/** The variables that select colours, which a test run may have set. */
function clearForcedColour(): () => void {
  const { FORCE_COLOR } = process.env;
  delete process.env.FORCE_COLOR;
  return () => {
    if (FORCE_COLOR !== undefined) process.env.FORCE_COLOR = FORCE_COLOR;
  };
}
