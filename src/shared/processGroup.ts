import { spawn } from "node:child_process";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";

/** How long processes have from SIGTERM until SIGKILL. */
const GRACE_MS = 2_000;

/** How long a program's output is waited for after its end, when something that left its group holds it open. */
const DRAIN_MS = 1_000;

export interface Program {
  readonly command: readonly [string, ...string[]];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string | undefined;
  readonly input: string;
  readonly maxOutputBytes: number;
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

/** A process as /proc tells of it; `startedAt` in a unit of its own: with it, a process is told from a later one of its id. */
interface Process {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  readonly startedAt: string;
}

/** The leaders of all groups that run: they go when this process goes, as far as it is given the time. */
const leaders = new Set<number>();
process.on("exit", () => {
  for (const leader of leaders) kill(leader, "SIGKILL");
});

/**
 * Runs a program, without a shell, as the leader of a session and process group of its own, and settles when it has ended.
 * When the signal fires or there is more output than allowed, the whole group gets SIGTERM, and SIGKILL after two seconds.
 * What the program leaves behind in its group is killed at its end. On Linux this is true of all that is in its session,
 * whatever the group, and of their children's children, also where those have left the session.
 * @throws the error of the system that did not start it
 */
export function runProcessGroup(program: Program, signal: AbortSignal): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const { command, env, cwd, input, maxOutputBytes, isAnswered } = program;
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

    let known: readonly Process[] = [];
    const killAll = (name: NodeJS.Signals) => {
      known = kill(leader, name, known);
    };
    let stopped: Ended["stopped"];
    let timer: NodeJS.Timeout | undefined;
    const stop = (why: Ended["stopped"]) => {
      if (stopped) return;
      stopped = why;
      if (child.exitCode !== null || child.signalCode !== null) return; // its id may be another's
      killAll("SIGTERM");
      timer = setTimeout(() => killAll("SIGKILL"), GRACE_MS);
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
      killAll("SIGKILL");
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

/**
 * Signals the leader's group, and what else there is of its family, with what was `known` to be of it: whose parent has ended
 * meanwhile is not found any more. @returns the family, to be known the next time
 */
function kill(leader: number, name: NodeJS.Signals, known: readonly Process[] = []): readonly Process[] {
  const family = familyOf(leader, known);
  const others = family.filter(({ group }) => group !== leader).map(({ pid }) => pid);
  for (const target of [-leader, ...others]) {
    try {
      process.kill(target, name);
    } catch {
      // Nobody is left.
    }
  }
  return family;
}

/** Whoever is in the leader's session or known, and their descendants. */
function familyOf(leader: number, known: readonly Process[]): readonly Process[] {
  const all = allProcesses();
  const isKnown = ({ pid, startedAt }: Process) => known.some((one) => one.pid === pid && one.startedAt === startedAt);
  const family = new Set(all.filter((one) => one.session === leader || isKnown(one)));
  // What is added while the set is walked through is walked through too.
  for (const { pid } of family) for (const one of all) if (one.parent === pid) family.add(one);
  return [...family];
}

/**
 * None where there is no /proc as Linux has it, or that of another namespace, whose ids are other processes' here, or no file
 * left to read it with: the group is known all the same.
 */
function allProcesses(): readonly Process[] {
  try {
    if (readlinkSync("/proc/self") !== String(process.pid)) return [];
    return readdirSync("/proc").flatMap((name) => (/^\d+$/.test(name) ? (readProcess(Number(name)) ?? []) : []));
  } catch {
    return [];
  }
}

function readProcess(pid: number): Process | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name before may have spaces and brackets in it.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const [parent, group, session] = fields.slice(1, 4).map(Number) as [number, number, number];
    return { pid, parent, group, session, startedAt: fields[19] ?? "" };
  } catch {
    return undefined; // it has ended meanwhile
  }
}
