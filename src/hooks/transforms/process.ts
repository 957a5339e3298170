import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { signalGroup } from "../../shared/process/processGroup.ts";
import { type OnOutput, TransformOutput } from "./output.ts";
import type { Command, Report, ThreadOutcome } from "./transformMain.mjs";

/** Maximum time until a thread starts, even on a busy machine. */
const START_MS = 30_000;
/** How long a thread may take to end before the whole process is killed: a call of the system cannot be interrupted. */
const END_MS = 1_000;

/** How much of the end of standard error is kept: it has V8's reason if V8 ends the process. */
const MAX_STDERR_LENGTH = 16_384;

const MAIN = fileURLToPath(new URL("./transformMain.mjs", import.meta.url));

export interface ProcessSettings {
  readonly timeoutMs: number;
  /** Limit of the JavaScript heap of a thread, and of what it holds outside the heap; by default 128. Only tests set it. */
  readonly maxMemoryMiB?: number;
  /** The environment of the process: without the service's own secrets. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Receives each line that a transform prints, with the label of its run. */
  readonly onOutput: OnOutput;
}

const memoryOf = ({ maxMemoryMiB = 128 }: ProcessSettings): number => maxMemoryMiB;

export interface TransformRun {
  readonly start: NonNullable<Command["start"]>;
  readonly label: string;
}

/**
 * The outcome of a run in a process. With `unavailable`, no thread was started. With `lost`, another run may have ended the
 * process.
 */
export type RunOutcome =
  | ThreadOutcome
  | { readonly kind: "unavailable"; readonly fault: string }
  | { readonly kind: "lost" };

interface Running {
  readonly output: TransformOutput;
  readonly resolve: (outcome: RunOutcome) => void;
  isStarted: boolean;
  /** Why its thread is being ended; completes the sentence "The transform x …". */
  fault?: string;
  timer: NodeJS.Timeout;
}

/**
 * A process in which transforms run, each on a thread of its own (transformMain.mjs). It leads a process group, so that
 * processes that transforms have started end with it. The caller that creates it kills it.
 *
 * States of a run: sent (until START_MS), started (until timeoutMs), ending (until END_MS), ended.
 */
export class TransformProcess {
  /** Resolves when the process has ended. */
  readonly ended: Promise<void>;
  readonly #settings: ProcessSettings;
  readonly #child: ChildProcess;
  readonly #runs = new Map<number, Running>();
  #nextId = 0;
  #stderr = "";
  #isUsable = true;
  #hasExited = false;
  #end: RunOutcome | undefined;

  /** @throws the system's error if the process cannot be started; some of these errors become outcomes instead */
  constructor(settings: ProcessSettings) {
    this.#settings = settings;
    this.#child = spawn(process.execPath, ["--no-warnings", MAIN, String(memoryOf(settings))], {
      env: settings.env,
      detached: true,
      serialization: "advanced",
      stdio: ["ignore", "ignore", "pipe", "ipc"],
    });
    this.#child.on("message", (message) => this.#handle(message as Report & { id: number }));
    this.#child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      this.#stderr = (this.#stderr + text).slice(-MAX_STDERR_LENGTH);
    });
    this.ended = this.#waitForEnd();
  }

  /** Whether it may get further runs. A process in which a thread had to be ended gets none. */
  get isUsable(): boolean {
    return this.#isUsable;
  }

  get isIdle(): boolean {
    return this.#runs.size === 0;
  }

  /** Runs a transform. The end of the process meanwhile is an outcome, not an error. An abort ends the thread first. */
  async run({ start, label }: TransformRun, signal: AbortSignal): Promise<RunOutcome> {
    if (this.#end) return this.#end;
    const id = this.#nextId++;
    const { promise, resolve } = Promise.withResolvers<RunOutcome>();
    const timer = setTimeout(() => this.#endThread(id, `did not start within ${START_MS / 1_000} s`), START_MS);
    const run = { output: new TransformOutput(label, this.#settings.onOutput), resolve, isStarted: false, timer };
    this.#runs.set(id, run);
    const onAbort = () => this.#endThread(id, "was aborted");
    signal.addEventListener("abort", onAbort);
    this.#send({ id, start });
    try {
      return await promise;
    } finally {
      signal.removeEventListener("abort", onAbort);
      clearTimeout(run.timer);
      run.output.flush();
      this.#runs.delete(id);
    }
  }

  /** Takes no further run, but lets those that run end. */
  retire(): void {
    this.#isUsable = false;
  }

  kill(): Promise<void> {
    this.retire();
    if (!this.#hasExited && this.#child.pid) signalGroup(this.#child.pid, "SIGKILL");
    return this.ended;
  }

  /** A message to an ended process is dropped, because `ended` reports that. */
  #send(command: Command): void {
    if (this.#child.connected) this.#child.send(command, () => {});
  }

  #handle({ id, ...report }: Report & { id: number }): void {
    const run = this.#runs.get(id);
    if (!run) return;
    switch (report.type) {
      case "started": {
        const { timeoutMs } = this.#settings;
        const fault = `took longer than hooks.transformTimeoutSeconds (${timeoutMs / 1_000} s)`;
        run.isStarted = true;
        if (run.fault !== undefined) break;
        clearTimeout(run.timer);
        run.timer = setTimeout(() => this.#endThread(id, fault), timeoutMs);
        break;
      }
      case "output":
        run.output.add(report.stream, report.text);
        if (report.truncated) run.output.truncate();
        break;
      case "ended":
        run.resolve(run.fault === undefined ? report.outcome : failure(run, run.fault));
    }
  }

  #endThread(id: number, fault: string): void {
    const run = this.#runs.get(id);
    if (!run || run.fault !== undefined) return;
    run.fault = fault;
    this.retire();
    this.#send({ id });
    clearTimeout(run.timer);
    run.timer = setTimeout(() => void this.kill(), END_MS);
  }

  #waitForEnd(): Promise<void> {
    const child = this.#child;
    return new Promise((resolve) => {
      const end = (fault: string) => {
        this.retire();
        this.#end = { kind: "unavailable", fault };
        const isAlone = this.#runs.size === 1;
        for (const run of this.#runs.values()) {
          const known = run.fault ?? (isAlone ? fault : undefined);
          run.resolve(known === undefined ? { kind: "lost" } : failure(run, known));
        }
        resolve();
      };
      child.on("error", ({ code }: NodeJS.ErrnoException) => {
        if (child.pid === undefined) end(`could not be started (${code})`);
      });
      child.once("exit", (code, signal) => {
        this.#hasExited = true;
        if (child.pid) signalGroup(child.pid, "SIGKILL"); // It ends what transforms have started.
        // V8's reason may still be in the pipe, which a process that left the group may keep open.
        const timer = setTimeout(() => child.stderr?.destroy(), END_MS);
        child.once("close", () => {
          clearTimeout(timer);
          end(this.#describeEnd(code, signal));
        });
      });
    });
  }

  #describeEnd(code: number | null, signal: NodeJS.Signals | null): string {
    const isMemory = /^FATAL ERROR|^# Fatal JavaScript invalid size/m.test(this.#stderr);
    if (signal === null || !isMemory) return `ended its process with ${signal ?? `exit code ${code}`}`;
    return `used more memory than ${memoryOf(this.#settings)} MiB`;
  }
}

const failure = ({ isStarted }: Running, fault: string): RunOutcome => ({
  kind: isStarted ? "failed" : "unavailable",
  fault,
});
