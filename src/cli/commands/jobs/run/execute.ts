import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { closeSync, constants as file, mkdtempSync, openSync, rmSync } from "node:fs";
import type { Socket } from "node:net";
import { constants, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay, setImmediate } from "node:timers/promises";
import { passOn } from "./outputStream.ts";
import type { StreamName } from "./outputTail.ts";
import type { ProgramGroup } from "./programGroup.ts";

/** How a program ended. */
export interface ProgramEnd {
  readonly exitCode: number;
  /** Why it could not be started. */
  readonly fault?: string;
}

/** How long output is awaited after the end of the program, while a process that it has left behind keeps it open. */
const DRAIN_MS = 500;

const NAMES = ["stdout", "stderr"] as const;

/**
 * Runs the program with the input of this process, passes its output on, and resolves when it has ended. Processes that it
 * leaves behind go on and are not waited for.
 * @param onChunk receives the output
 * @param traceparent the trace for its environment; null leaves the environment as it is
 */
export async function execute(
  [program, ...args]: readonly [string, ...string[]],
  group: ProgramGroup,
  onChunk: (name: StreamName, chunk: Buffer) => void,
  traceparent: string | null,
): Promise<ProgramEnd> {
  const pipes = openPipes();
  const [stdout, stderr] = pipes.map(({ write }) => write);
  let child: ChildProcess;
  try {
    // biome-ignore lint/style/noProcessEnv: the program gets what this process was given, without the file .env
    const env = { ...process.env, ...(traceparent !== null && { TRACEPARENT: traceparent }) };
    child = spawn(program, args, { env, stdio: ["inherit", stdout, stderr], detached: group.detached });
  } catch (error) {
    // spawn throws most errors of the start, and emits the others.
    for (const { read } of pipes) if (read !== undefined) closeSync(read);
    return notStarted(program, error as NodeJS.ErrnoException);
  } finally {
    for (const { write } of pipes) if (write !== "pipe") closeSync(write);
  }
  group.follow(child);
  const ended = new Promise<ProgramEnd>((resolve) => {
    child.once("exit", (code, signal) => {
      resolve({ exitCode: signal ? 128 + constants.signals[signal] : (code ?? 1) });
    });
    child.once("error", (error) => resolve(notStarted(program, error)));
  });
  const streams = NAMES.map((name, index) => {
    const from = pipes[index]?.read ?? (child[name] as Socket | null);
    return from === null ? undefined : passOn(name, from, (chunk) => onChunk(name, chunk));
  });
  const end = await ended;
  await Promise.race([
    Promise.all(streams.map((stream) => stream?.closed)),
    delay(DRAIN_MS, undefined, { ref: false }),
  ]);
  await setImmediate(); // reads what is left, even if this process has not run for long
  for (const stream of streams) void stream?.handOver();
  return end;
}

/** Returns the end of a program that did not start, with the exit code that a shell has for it. */
function notStarted(program: string, { code, message }: NodeJS.ErrnoException): ProgramEnd {
  const [exitCode, fault] =
    program === ""
      ? [127, "its name is empty: check the variable or the quotes after --"]
      : code === "ENOENT"
        ? [
            127,
            `${program} was not found: check ${/\s/.test(program) ? "the quotes around its words" : "its name and PATH"}`,
          ]
        : code === "EACCES"
          ? [126, `${program} cannot be executed (EACCES): make it executable with chmod +x, or name its interpreter`]
          : code === "E2BIG"
            ? [126, "its arguments and environment are too long (E2BIG): pass them in a file"]
            : [126, message];
  return { exitCode, fault: `The program could not be started: ${fault}.` };
}

interface Pipe {
  /** The end of the pipe that the program gets. */
  readonly write: number | "pipe";
  readonly read?: number;
}

/**
 * Opens a pipe for each stream. What `spawn` calls pipes are sockets, which a program cannot open again as /dev/stderr; they
 * serve where no file can be created.
 */
function openPipes(): readonly Pipe[] {
  try {
    const dir = mkdtempSync(join(tmpdir(), "signalbox-run-"));
    try {
      const paths = NAMES.map((name) => join(dir, name));
      execFileSync("mkfifo", ["-m", "600", ...paths]);
      return paths.map((path) => {
        const read = openSync(path, file.O_RDONLY | file.O_NONBLOCK);
        return { read, write: openSync(path, file.O_WRONLY) };
      });
    } finally {
      rmSync(dir, { recursive: true });
    }
  } catch {
    return NAMES.map(() => ({ write: "pipe" }));
  }
}
