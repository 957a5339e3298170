import { spawn } from "node:child_process";
import { once } from "node:events";
import { resolve } from "node:path";
import xterm from "@xterm/headless";
import { eventually } from "../support/eventually.ts";

const MAIN = resolve("src/cli/main.ts");

/** A command whose arguments may hold anything, away from a terminal. */
export async function runCommand(
  args: readonly string[],
  env: Record<string, string>,
  { input = "", cwd = "." } = {},
): Promise<{ code: number | string; stdout: string; stderr: string }> {
  const child = spawn(process.execPath, [MAIN, ...args], { cwd, env: { PATH: process.env.PATH, ...env } });
  const printed = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) {
    child[name].setEncoding("utf8").on("data", (chunk: string) => {
      printed[name] += chunk;
    });
  }
  child.stdin.on("error", () => {}); // it may end without having read
  child.stdin.end(input);
  const [code, signal] = await once(child, "close");
  return { code: code ?? signal, ...printed };
}

/** A command at a terminal, as a person sees it. */
export interface Terminal {
  /** The lines of the screen without blanks at their ends, and those that have gone out of it above. */
  lines(): Promise<string[]>;
  /** Waits until the screen shows it. */
  shows(what: RegExp): Promise<string>;
  type(text: string): void;
  /** The bytes that came, escape sequences among them. */
  raw(): string;
  title(): string;
  readonly ended: Promise<number>;
  kill(): void;
}

const PTY = "import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))";

/** Starts a command at a terminal of that size. */
export function atTerminal(
  args: readonly string[],
  env: Record<string, string>,
  { columns = 80, rows = 24 } = {},
): Terminal {
  const sized = `stty cols ${columns} rows ${rows}; exec "$@"`;
  const command = ["-c", PTY, "sh", "-c", sized, "sh", process.execPath, MAIN, ...args];
  const child = spawn("python3", command, { env: { PATH: process.env.PATH, TERM: "xterm-256color", ...env } });
  const screen = new xterm.Terminal({ cols: columns, rows, scrollback: 5_000, allowProposedApi: true });
  let raw = "";
  let title = "";
  screen.onTitleChange((text) => {
    title = text;
  });
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    raw += chunk;
    screen.write(chunk);
  });
  const ended = once(child, "close").then(([code]) => code as number);
  const lines = async () => {
    await new Promise<void>((done) => screen.write("", done));
    const { active } = screen.buffer;
    const all = Array.from(
      { length: active.length },
      (_, y) => active.getLine(y)?.translateToString(true).trimEnd() ?? "",
    );
    return all.slice(0, all.findLastIndex((line) => line !== "") + 1);
  };
  const shows = async (what: RegExp) => {
    let text = "";
    try {
      await eventually(async () => {
        text = (await lines()).join("\n");
        return what.test(text);
      }, `${what} on the screen`);
    } catch (error) {
      throw new Error(`${(error as Error).message}:\n${text}`);
    }
    return text;
  };
  return {
    lines,
    shows,
    type: (text) => void child.stdin.write(text),
    raw: () => raw,
    title: () => title,
    ended,
    kill: () => void child.kill("SIGKILL"),
  };
}
