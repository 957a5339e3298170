import { spawn } from "node:child_process";

const GRACE_MS = 2_000;

/** How long a program's output is waited for after its end, when something that left its group holds it open. */
const DRAIN_MS = 1_000;

export interface Program {
  readonly command: readonly [string, ...string[]];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string | undefined;
  readonly input: string;
  readonly maxOutputBytes: number;
  /** How long processes have from SIGTERM until SIGKILL; 2 s by default. */
  readonly graceMs?: number | undefined;
  /**
   * For a program that answers what it is asked and gives up when its input ends: with this the input stays open until
   * it says, of the output so far, that the answer is there.
   */
  readonly isAnswered?: (output: Buffer) => boolean;
}

export interface Ended {
  readonly code: number | null;
  readonly killedBy: NodeJS.Signals | null;
  /** Why it was stopped from here, if it was. */
  readonly stopped: "signal" | "output" | undefined;
  readonly output: Buffer;
}

/** Whether what keeps the system from starting a program, by its code, may pass by itself. */
export const isTransientStartError = (code: string | undefined): boolean =>
  ["EAGAIN", "ENOMEM", "EMFILE", "ENFILE"].includes(code ?? "");

/** The leaders of all groups that run: they go when this process goes, as far as it is given the time. */
const leaders = new Set<number>();
process.on("exit", () => {
  for (const leader of leaders) signalGroup(leader, "SIGKILL");
});

/**
 * Runs a program, without a shell, as the leader of its own session and process group, and resolves when it has ended.
 * When the signal fires or the output exceeds its limit, the group gets SIGTERM, and SIGKILL after `graceMs`. Processes
 * that the program leaves behind in its group are killed when it ends; those that have left the group are not.
 * @throws the error of the system that did not start it
 */
export function runProcessGroup(program: Program, signal: AbortSignal): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const { command, env, cwd, input, maxOutputBytes, isAnswered, graceMs = GRACE_MS } = program;
    const child = spawn(command[0], command.slice(1), {
      ...(cwd !== undefined && { cwd }),
      env,
      detached: true,
      stdio: ["pipe", "pipe", "ignore"],
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
      if (child.exitCode !== null || child.signalCode !== null) return; // its id may be another's
      signalGroup(leader, "SIGTERM");
      timer = setTimeout(() => signalGroup(leader, "SIGKILL"), graceMs);
    };
    const onAbort = () => stop("signal");
    signal.addEventListener("abort", onAbort);

    const chunks: Buffer[] = [];
    let size = 0;
    child.stdout.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size > maxOutputBytes) return stop("output");
      chunks.push(chunk);
      if (isAnswered?.(Buffer.concat(chunks))) child.stdin.end();
    });
    child.stdin.on("error", () => {}); // it need not read its input
    if (isAnswered) child.stdin.write(input);
    else child.stdin.end(input);

    child.once("exit", () => {
      signalGroup(leader, "SIGKILL");
      leaders.delete(leader);
      signal.removeEventListener("abort", onAbort);
      clearTimeout(timer);
      child.stdin.destroy();
      timer = setTimeout(() => child.stdout.destroy(), DRAIN_MS);
    });
    child.once("close", (code, killedBy) => {
      clearTimeout(timer);
      resolve({ code, killedBy, stopped, output: Buffer.concat(chunks) });
    });
  });
}

function signalGroup(leader: number, name: NodeJS.Signals): void {
  try {
    process.kill(-leader, name);
  } catch {
    // The group has no process left.
  }
}
