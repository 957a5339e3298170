import { AsyncLocalStorage } from "node:async_hooks";
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { runCommandLine } from "../../src/cli/run.ts";
import { standardInput } from "../../src/cli/terminal/readInput.ts";

interface Ended {
  /** What a process of it would have ended with. */
  readonly code: number | string;
  readonly stdout: string;
  readonly stderr: string;
}

interface RunOptions {
  /** Standard input: nothing unless given. A stream may stay open, as a terminal does; `-` for a file reads a text alone. */
  readonly input?: string | Readable;
  readonly cwd?: string;
}

/** A command that runs inside this process. */
export interface Running {
  /** What it has printed, both streams together. */
  printed(): string;
  readonly ended: Promise<Ended>;
}

/** What the command that runs prints goes here, and what anybody else prints where it went before. */
const command = new AsyncLocalStorage<(name: "stdout" | "stderr", text: string) => void>();

/** Lets go of the process: done when the command has ended, or for one that a failed test has left waiting. */
let letGo = () => {};

/**
 * Carries a command out inside this process, which saves the start of one: with an environment that holds nothing but PATH,
 * PORT=0 and what is given, without a terminal, and with its output caught. One runs at a time. Signals, a terminal and what
 * outlives the command need a process: `runCli` in test/cli/service.ts.
 */
export function startInProcess(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  { input = "", cwd = "." }: RunOptions = {},
): Running {
  letGo();
  const undo = [moveTo(cwd), giveInput(input), withoutForcedColour(), freshExitCode()];
  for (const name of ["stdout", "stderr"] as const) undo.push(catchOutput(name));
  const undoOnce = () => {
    for (const back of undo.splice(0).reverse()) back();
  };
  letGo = undoOnce;

  let all = "";
  const printed = { stdout: "", stderr: "" };
  const keep = (name: "stdout" | "stderr", text: string) => {
    all += text;
    printed[name] += text;
  };
  const variables = { PATH: process.env.PATH, PORT: "0", ...env };
  const ended = command.run(keep, async () => {
    try {
      await runCommandLine(args, async () => variables);
      return { code: process.exitCode ?? 0, ...printed };
    } finally {
      undoOnce();
    }
  });
  return { printed: () => all, ended };
}

/** Carries a command out inside this process, and waits for its end. */
export const runInProcess = (...run: Parameters<typeof startInProcess>): Promise<Ended> => startInProcess(...run).ended;

/** Gives an object another property. @returns what puts the old one back */
function replace<T extends object>(object: T, name: keyof T, value: unknown): () => void {
  const before = Object.getOwnPropertyDescriptor(object, name);
  Object.defineProperty(object, name, { value, configurable: true, writable: true });
  return () => {
    if (before) Object.defineProperty(object, name, before);
    else delete object[name];
  };
}

/** Has what the command writes caught, to a stream that is no terminal. */
function catchOutput(name: "stdout" | "stderr"): () => void {
  const stream = process[name];
  const write = stream.write.bind(stream) as (...args: unknown[]) => boolean;
  const undo = [
    replace(stream, "isTTY", false),
    replace(stream, "write", (chunk: string | Uint8Array, ...rest: unknown[]) => {
      const keep = command.getStore();
      if (!keep) return write(chunk, ...rest);
      keep(name, typeof chunk === "string" ? chunk : Buffer.from(chunk).toString("utf8"));
      const written = rest.at(-1);
      if (typeof written === "function") process.nextTick(written);
      return true;
    }),
  ];
  return () => {
    for (const back of undo) back();
  };
}

function freshExitCode(): () => void {
  const { exitCode } = process;
  process.exitCode = undefined;
  return () => {
    process.exitCode = exitCode;
  };
}

function giveInput(input: string | Readable): () => void {
  const dir = mkdtempSync(join(tmpdir(), "signalbox-input-"));
  const file = join(dir, "input");
  writeFileSync(file, typeof input === "string" ? input : "");
  const { fd } = standardInput;
  standardInput.fd = openSync(file, "r");
  const stream = typeof input === "string" ? Readable.from(input === "" ? [] : [input]) : input;
  const back = replace(process, "stdin", stream);
  return () => {
    back();
    closeSync(standardInput.fd);
    standardInput.fd = fd;
    rmSync(dir, { recursive: true });
  };
}

function moveTo(cwd: string): () => void {
  const before = process.cwd();
  process.chdir(cwd);
  return () => process.chdir(before);
}

/** A test run may ask for colours of its own. */
function withoutForcedColour(): () => void {
  const { FORCE_COLOR } = process.env;
  delete process.env.FORCE_COLOR;
  return () => {
    if (FORCE_COLOR !== undefined) process.env.FORCE_COLOR = FORCE_COLOR;
  };
}
