import { spawn } from "node:child_process";
import { once } from "node:events";
import { resolve } from "node:path";
import { text } from "node:stream/consumers";

interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Program {
  /** Resolves when the program has printed something. */
  readonly hasPrinted: Promise<unknown>;
  readonly ended: Promise<Ended>;
  kill(): void;
}

/** Runs a file as a user would, with the test's environment and the given variables. */
export function runProgram(
  file: string,
  args: readonly string[],
  env: Record<string, string> = {},
  cwd = ".",
): Program {
  const child = spawn(process.execPath, [resolve(file), ...args], {
    cwd,
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const end = async () => {
    const [stdout, stderr, [code, signal]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, "exit"),
    ]);
    return { code, signal, stdout, stderr };
  };
  const hasPrinted = once(child.stdout, "data");
  return { hasPrinted, ended: end(), kill: () => void child.kill("SIGKILL") };
}
