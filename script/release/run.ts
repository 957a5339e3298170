import { spawnSync } from "node:child_process";
import { Refusal } from "./version.ts";

/**
 * Runs a program to its end and returns its standard output.
 * @throws Refusal with the command and the end of its output if it fails
 */
export function run(program: string, args: readonly string[], env: Readonly<Record<string, string>> = {}): string {
  const options = { env: { ...process.env, ...env }, encoding: "utf8", maxBuffer: 64 * 1024 * 1024 } as const;
  const { status, signal, error, stdout = "", stderr = "" } = spawnSync(program, args, options);
  if (status === 0) return stdout;
  const output = `${stdout}${stderr}`.trimEnd().slice(-4_000);
  throw new Refusal(`${[program, ...args].join(" ")} ended with ${error?.message ?? signal ?? status}:\n${output}`);
}
