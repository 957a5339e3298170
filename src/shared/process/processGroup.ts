import { spawn } from "node:child_process";

const GRACE_MS = 2_000;

/** How long the output of an ended program is awaited while a process that left its group keeps it open. */
const DRAIN_MS = 1_000;

/** How much of the end of standard error is kept: enough for a sentence and a short stack. */
const KEPT_ERROR_BYTES = 4_096;

export interface Program {
  readonly command: readonly [string, ...string[]];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string | undefined;
  readonly input: string;
  readonly maxOutputBytes: number;
  /** How long processes have from SIGTERM until SIGKILL; 2 s by default. */
  readonly graceMs?: number | undefined;
  /**
   * Returns whether the output so far contains the whole answer. With this function the input stays open until then, for
   * programs that give up when their input ends.
   */
  readonly isAnswered?: (output: Buffer) => boolean;
  /** Takes each piece of standard output and of standard error, as it comes. */
  readonly onOutput?: (chunk: Buffer) => void;
  readonly onErrorOutput?: (chunk: Buffer) => void;
  /** Returns whether the answer is at the end of the output, so that of a longer output the end is kept. */
  readonly keepsEnd?: () => boolean;
}

export interface Ended {
  readonly code: number | null;
  readonly killedBy: NodeJS.Signals | null;
  /** The reason when this process stopped the program: the signal aborted, or the output was too large. */
  readonly stopped: "signal" | "output" | undefined;
  readonly output: Buffer;
  /** The last 4 KiB that the program wrote to standard error. */
  readonly errorOutput: Buffer;
}

/** Returns whether the error code of a failed start stands for a shortage that may pass, so that a retry is useful. */
export const isTransientStartError = (code: string | undefined): boolean =>
  ["EAGAIN", "ENOMEM", "EMFILE", "ENFILE"].includes(code ?? "");

/** The leaders of all running groups. They are killed when this process exits, unless it is killed itself. */
const leaders = new Set<number>();
process.on("exit", () => {
  for (const leader of leaders) signalGroup(leader, "SIGKILL");
});

/**
 * Runs a program, without a shell, as the leader of its own session and process group, and resolves when it has ended.
 * When the signal fires or the output exceeds its limit, the group gets SIGTERM, and SIGKILL after `graceMs`. Processes
 * that the program leaves behind in its group are killed when it ends; those that have left the group are not.
 * @throws the system's error when the program cannot be started
 */
export function runProcessGroup(program: Program, signal: AbortSignal): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const { command, env, cwd, input, maxOutputBytes, isAnswered, graceMs = GRACE_MS } = program;
    const { onOutput, onErrorOutput, keepsEnd } = program;
    const child = spawn(command[0], command.slice(1), {
      ...(cwd !== undefined && { cwd }),
      env,
      detached: true,
      stdio: ["pipe", "pipe", "pipe"],
    });
    child.once("error", reject);
    const leader = child.pid;
    if (leader === undefined) return;
    leaders.add(leader);

    let stopped: Ended["stopped"];
    let timer: NodeJS.Timeout | undefined;
    const stop = (why: Ended["stopped"]) => {
      if (stopped) return;
      stopped = why;
      if (child.exitCode !== null || child.signalCode !== null) return; // another process may have its id now
      signalGroup(leader, "SIGTERM");
      timer = setTimeout(() => signalGroup(leader, "SIGKILL"), graceMs);
    };
    const onAbort = () => stop("signal");
    signal.addEventListener("abort", onAbort);

    const chunks: Buffer[] = [];
    let size = 0;
    child.stdout.on("data", (chunk: Buffer) => {
      onOutput?.(chunk);
      size += chunk.length;
      while (size > maxOutputBytes && chunks[0] && keepsEnd?.()) size -= chunks.shift()?.length ?? 0;
      if (size > maxOutputBytes) return stop("output");
      chunks.push(chunk);
      if (isAnswered?.(Buffer.concat(chunks))) child.stdin.end();
    });
    let errorOutput: Buffer = Buffer.alloc(0);
    child.stderr.on("data", (chunk: Buffer) => {
      onErrorOutput?.(chunk);
      // A copy, so that the large buffer behind a piece of it is freed.
      errorOutput = Buffer.from(Buffer.concat([errorOutput, chunk]).subarray(-KEPT_ERROR_BYTES));
    });
    child.stdin.on("error", () => {}); // a program may ignore its input
    if (isAnswered) child.stdin.write(input);
    else child.stdin.end(input);

    child.once("exit", () => {
      signalGroup(leader, "SIGKILL");
      leaders.delete(leader);
      signal.removeEventListener("abort", onAbort);
      clearTimeout(timer);
      child.stdin.destroy();
      timer = setTimeout(() => {
        child.stdout.destroy();
        child.stderr.destroy();
      }, DRAIN_MS);
    });
    child.once("close", (code, killedBy) => {
      clearTimeout(timer);
      resolve({ code, killedBy, stopped, output: Buffer.concat(chunks), errorOutput });
    });
  });
}

/**
 * Sends a signal to all processes of a group; does nothing when the group has ended.
 * @param leader the process id of its leader
 */
export function signalGroup(leader: number, name: NodeJS.Signals): void {
  try {
    process.kill(-leader, name);
  } catch {
    // The group has ended.
  }
}
