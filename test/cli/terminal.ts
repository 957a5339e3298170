import { spawn } from "node:child_process";
import { once } from "node:events";
import { resolve } from "node:path";
import { openScreen, type Screen, type Size } from "./screen.ts";

const MAIN = resolve("src/cli/main.ts");

/** A process of a command at a terminal. */
interface Terminal extends Screen {
  type(text: string): void;
  readonly ended: Promise<number>;
  kill(): void;
}

const PTY = "import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))";

/** Starts a process of a command at a terminal of that size. */
export function atTerminal(args: readonly string[], env: Record<string, string>, size: Size = {}): Terminal {
  const { columns = 80, rows = 24 } = size;
  const sized = `stty cols ${columns} rows ${rows}; exec "$@"`;
  const command = ["-c", PTY, "sh", "-c", sized, "sh", process.execPath, MAIN, ...args];
  const child = spawn("python3", command, { env: { PATH: process.env.PATH, TERM: "xterm-256color", ...env } });
  const screen = openScreen(size);
  child.stdout.setEncoding("utf8").on("data", screen.write);
  const ended = once(child, "close").then(([code]) => code as number);
  const type = (text: string) => void child.stdin.write(text);
  return { ...screen, type, ended, kill: () => void child.kill("SIGKILL") };
}
