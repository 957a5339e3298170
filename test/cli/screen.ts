import { AsyncLocalStorage } from "node:async_hooks";
import { EventEmitter } from "node:events";
import { WriteStream } from "node:tty";
import xterm from "@xterm/headless";
import { runCommandLine } from "../../src/cli/run.ts";
import { interrupts } from "../../src/cli/terminal/interrupt.ts";
import { eventually } from "../support/eventually.ts";

export interface Size {
  readonly columns?: number;
  readonly rows?: number;
}

/** The screen of a terminal. */
export interface Screen {
  /** Returns the lines of the screen and of its scrollback, without trailing blanks. */
  lines(): Promise<string[]>;
  /** Waits until the screen shows it. */
  shows(what: RegExp): Promise<string>;
  /** Returns everything that was written, including escape sequences. */
  raw(): string;
  /** Changes the width of the terminal, which wraps the lines on it. */
  resize(columns: number): Promise<void>;
  title(): string;
}

/** Returns a screen and a function that writes to it. */
export function openScreen(
  { columns = 80, rows = 24 }: Size,
  convertEol = false,
): Screen & { write(text: string): void } {
  const screen = new xterm.Terminal({ cols: columns, rows, scrollback: 5_000, allowProposedApi: true, convertEol });
  let raw = "";
  let title = "";
  screen.onTitleChange((text) => {
    title = text;
  });
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
  const write = (text: string) => {
    raw += text;
    screen.write(text);
  };
  const resize = async (columns: number) => {
    await lines(); // applies everything written before
    screen.resize(columns, rows);
  };
  return { lines, shows, write, resize, raw: () => raw, title: () => title };
}

/** A command that draws on a screen from inside this process. */
export interface Drawing extends Screen {
  /** Its exit code. */
  readonly ended: Promise<number>;
  /** Interrupts it as Ctrl-C does, and waits for its end. */
  stop(): Promise<number>;
}

/** The screen of the running command. The output of other code is not redirected. */
const current = new AsyncLocalStorage<{ write(text: string): void }>();

/**
 * Runs a command inside this process on a terminal of that size. Only one runs at a time. It reads no keys; tests of keys
 * need `atTerminal`.
 */
export function onScreen(args: readonly string[], env: Readonly<Record<string, string>>, size: Size = {}): Drawing {
  const { columns = 80, rows = 24 } = size;
  const screen = openScreen(size, true);
  const undo: (() => void)[] = [];
  for (const stream of [process.stdout, process.stderr]) {
    const before = stream.write.bind(stream);
    const write = (text: string) => {
      const screen = current.getStore();
      screen?.write(text);
      return screen !== undefined || before(text);
    };
    const getColorDepth = () => WriteStream.prototype.getColorDepth({ TERM: "xterm-256color", ...env });
    const shown = { isTTY: true, columns, rows, write, getColorDepth };
    for (const [name, value] of Object.entries(shown)) undo.push(replace(stream, name, value));
  }
  const signals = new EventEmitter();
  undo.push(replace(interrupts, "source", signals), freshExitCode(), withoutForcedColour());

  const ended = current.run(screen, async () => {
    try {
      await runCommandLine(args, async () => ({ PATH: process.env.PATH, PORT: "0", ...env }));
      return Number(process.exitCode ?? 0);
    } finally {
      for (const back of undo.reverse()) back();
    }
  });
  const stop = () => {
    signals.emit("SIGINT", "SIGINT");
    return ended;
  };
  const resize = async (columns: number) => {
    await screen.resize(columns);
    Object.assign(process.stdout, { columns });
    current.run(screen, () => process.stdout.emit("resize"));
  };
  return { ...screen, ended, stop, resize };
}

/** Replaces a property of an object. Returns a function that restores it. */
function replace(object: object, name: string, value: unknown): () => void {
  const before = Object.getOwnPropertyDescriptor(object, name);
  Object.defineProperty(object, name, { value, configurable: true, writable: true, enumerable: true });
  return () => {
    if (before) Object.defineProperty(object, name, before);
    else Reflect.deleteProperty(object, name);
  };
}

function freshExitCode(): () => void {
  const { exitCode } = process;
  process.exitCode = undefined;
  return () => {
    process.exitCode = exitCode;
  };
}

/** A test run may ask for colours of its own. */
function withoutForcedColour(): () => void {
  const { FORCE_COLOR } = process.env;
  delete process.env.FORCE_COLOR;
  return () => {
    if (FORCE_COLOR !== undefined) process.env.FORCE_COLOR = FORCE_COLOR;
  };
}
