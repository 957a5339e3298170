import { type ChildProcess, spawn } from "node:child_process";
import { isatty } from "node:tty";
import { signalGroup } from "../../../../shared/process/processGroup.ts";
import { descendantsOf } from "../../../start/processInfo.ts";

/** Signals that are passed on to the program. */
const PASSED_ON = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2"] as const;

/** A signal that is repeated within this time counts once: `timeout` sends it to its child and to the child's group. */
const REPEATED_MS = 100;
/** The same after the program has ended: npm passes on Ctrl-C, which the terminal has sent too. */
const REPEATED_AT_END_MS = 1_000;

/** How long the program has from the SIGTERM of a cancellation until SIGKILL. */
const CANCEL_GRACE_MS = 30_000;

/**
 * Whether the program stays in the process group of this process: at a terminal, so that it may read from it and ask for
 * passwords. Otherwise it gets a session of its own, which also keeps the signals of a closing terminal from it, as `nohup` does.
 */
const staysInGroup = (): boolean => [0, 1, 2].some((fd) => isatty(fd));

/** The processes of the program. */
export interface ProgramGroup {
  /** The option of `spawn`. */
  readonly detached: boolean;
  /** Begins to pass signals on to the program. */
  follow(child: ChildProcess): void;
  /** Asks the program to end, and kills it if it does not. */
  cancel(): void;
  /** Stops passing signals on. Later signals call the listener. */
  ended(onSignal: (signal: NodeJS.Signals) => void): void;
  /** Removes the listeners of signals. */
  close(): void;
}

export function programGroup(): ProgramGroup {
  const detached = !staysInGroup();
  const last = new Map<NodeJS.Signals, number>();
  let child: ChildProcess | undefined;
  let onSignal: ((signal: NodeJS.Signals) => void) | undefined;
  let canary = detached ? undefined : startCanary();
  let killTimer: NodeJS.Timeout | undefined;

  /** Sends a signal to the program and the processes below it, once. */
  const signalProgram = (signal: NodeJS.Signals) => {
    if (child?.pid === undefined || onSignal) return;
    if (detached) return signalGroup(child.pid, signal);
    for (const pid of descendantsOf(child.pid)) {
      try {
        process.kill(pid, signal);
      } catch {
        // It has ended.
      }
    }
  };
  const received = async (signal: NodeJS.Signals) => {
    const now = performance.now();
    const before = last.get(signal) ?? Number.NEGATIVE_INFINITY;
    last.set(signal, now);
    if (now - before < (onSignal ? REPEATED_AT_END_MS : REPEATED_MS)) return;
    if (onSignal) return onSignal(signal);
    // Node does not show whether SIGHUP was ignored when this process started, as by `nohup`.
    if (detached) return signal === "SIGHUP" ? undefined : signalProgram(signal);
    const asked = canary;
    const diedOf = (await asked?.diedOf()) ?? null;
    if (diedOf !== null && asked === canary) canary = startCanary();
    if (diedOf !== signal) signalProgram(signal);
  };
  for (const signal of PASSED_ON) process.on(signal, received);
  return {
    detached,
    follow(program) {
      child = program;
    },
    cancel() {
      signalProgram("SIGTERM");
      killTimer = setTimeout(() => signalProgram("SIGKILL"), CANCEL_GRACE_MS);
    },
    ended(listener) {
      clearTimeout(killTimer);
      onSignal = listener;
    },
    close() {
      clearTimeout(killTimer);
      for (const signal of PASSED_ON) process.off(signal, received);
      canary?.end();
    },
  };
}

/** A process that shows whether a signal was sent to the whole process group, as terminals do. */
interface Canary {
  /** Resolves with the signal that has ended it, if any; a signal to the group reaches all its processes together. */
  diedOf(): Promise<NodeJS.Signals | null>;
  end(): void;
}

/** Starts a `cat`, which dies of each signal that is passed on, and otherwise returns what it is sent. */
function startCanary(): Canary {
  const cat = spawn("cat", { cwd: "/", stdio: ["pipe", "pipe", "ignore"] });
  const died = new Promise<NodeJS.Signals | null>((resolve) => {
    cat.once("exit", (_code, signal) => resolve(signal)).once("error", () => resolve(null));
  });
  cat.stdin.on("error", () => {}); // it has died
  for (const part of [cat, cat.stdin, cat.stdout]) (part as { unref?(): void }).unref?.();
  return {
    diedOf() {
      const answered = new Promise<null>((resolve) => cat.stdout.once("data", () => resolve(null)));
      cat.stdin.write("\n");
      return Promise.race([died, answered]);
    },
    end: () => void cat.kill("SIGKILL"),
  };
}
