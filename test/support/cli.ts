import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { standardInput } from "../../src/cli/readInput.ts";
import { runCommandLine } from "../../src/cli/run.ts";

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

let isRunning = false;

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
  if (isRunning) throw new Error("another command runs in this process");
  const undo = [moveTo(cwd)];
  isRunning = true;
  let all = "";
  const printed = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) {
    undo.push(
      replace(process[name], "isTTY", false),
      replace(process[name], "write", (chunk: string | Uint8Array, ...rest: unknown[]) => {
        const text = typeof chunk === "string" ? chunk : Buffer.from(chunk).toString("utf8");
        all += text;
        printed[name] += text;
        const written = rest.at(-1);
        if (typeof written === "function") process.nextTick(written);
        return true;
      }),
    );
  }
  undo.push(giveInput(input), withoutForcedColour());
  const { exitCode } = process;
  process.exitCode = undefined;
  undo.push(() => {
    process.exitCode = exitCode;
  });

  const variables = { PATH: process.env.PATH, PORT: "0", ...env };
  const run = async () => {
    try {
      await runCommandLine(args, async () => variables);
      return { code: process.exitCode ?? 0, ...printed };
    } finally {
      for (const back of undo.reverse()) back();
      isRunning = false;
    }
  };
  return { printed: () => all, ended: run() };
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
