import { type ChildProcess, spawn } from "node:child_process";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { FRAMES_FD, type Frame, OUT_OF_MEMORY, readFrames } from "./transformFrames.mjs";
import { type OnOutput, TransformOutput } from "./transformOutput.ts";

/** How long a thread that has served before may take to begin; what it did last may keep it busy. */
const BEGIN_MS = 2_000;

/** How long a new thread may take to begin, however busy the machine is. */
const START_MS = 30_000;

/** How long output is waited for after the end, when something that left the group holds it open. */
const DRAIN_MS = 1_000;

const MAIN = fileURLToPath(new URL("./transformMain.mjs", import.meta.url));

export interface ThreadSettings {
  /** The real path of hooks.transformsDir. */
  readonly dir: string;
  /** The real path of the module. */
  readonly path: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly timeoutMs: number;
  readonly maxMemoryMiB: number;
  readonly onOutput: OnOutput;
}

export interface ThreadJob {
  readonly export?: string | undefined;
  readonly input: unknown;
  readonly label: string;
}

/**
 * What became of a job. `failed`: by its own fault, which completes the sentence "The transform x …"; `spent` when the
 * thread is not to be used again. `again`: not by its own fault, on a thread that had served before; to be done on a new
 * one. `unavailable`: no thread could be had.
 */
export type ThreadAnswer =
  | { readonly kind: "kept" | "dropped" }
  | { readonly kind: "result"; readonly value: unknown }
  | { readonly kind: "failed"; readonly fault: string; readonly spent: boolean }
  | { readonly kind: "again" }
  | { readonly kind: "unavailable"; readonly fault: string };

interface RunningJob {
  readonly label: string;
  readonly answer: (answer: ThreadAnswer) => void;
  begun: boolean;
}

/**
 * The thread of one module, in a process of its own: where V8 finds no memory for a thread it often ends the whole
 * process, resourceLimits or not. It does one job at a time. Whoever starts it ends it.
 */
export class TransformProcess {
  readonly path: string;
  /** When the process is gone and all that it said has been heard. */
  readonly ended: Promise<void>;
  readonly #settings: ThreadSettings;
  readonly #child: ChildProcess;
  #job: RunningJob | undefined;
  #jobs = 0;
  #timer: NodeJS.Timeout | undefined;
  /** Of the job that began last: what is printed between two is the earlier one's. */
  #output: TransformOutput | undefined;
  #stderr = "";
  #exited = false;
  /** How it came to its end. */
  #fault: string | undefined;
  #late = false;
  #worn = false;

  constructor(settings: ThreadSettings) {
    const { dir, path, env, maxMemoryMiB } = settings;
    this.path = path;
    this.#settings = settings;
    this.#child = spawn(process.execPath, ["--no-warnings", MAIN, dir, path, String(maxMemoryMiB)], {
      env,
      detached: true, // the leader of a group, so that what it starts ends with it
      serialization: "advanced",
      stdio: ["ignore", "ignore", "pipe", "pipe", "ipc"],
    });
    if (this.#child.pid !== undefined) this.#listen();
    this.ended = this.#waitForEnd();
  }

  /** It has taken so much time that it has the lowest priority now: better not used again. */
  get worn(): boolean {
    return this.#worn;
  }

  /** Carries a job out. When the thread is ended meanwhile, the answer says so. @throws when the input cannot be cloned */
  async run({ export: name, input, label }: ThreadJob): Promise<ThreadAnswer> {
    const { promise, resolve } = Promise.withResolvers<ThreadAnswer>();
    const job = { label, answer: resolve, begun: false };
    this.#job = job;
    this.#jobs++;
    this.#timer = setTimeout(() => this.end(), this.#jobs > 1 ? BEGIN_MS : START_MS);
    void this.ended.then(() => resolve(this.#answerOfEnd(job)));
    try {
      if (this.#child.connected) this.#child.send({ name, input }, () => {}); // that it cannot be sent shows in its end
      return await promise;
    } finally {
      clearTimeout(this.#timer);
      this.#job = undefined;
    }
  }

  /** Ends it, whatever it does. */
  end(): Promise<void> {
    if (!this.#exited) this.#kill();
    return this.ended;
  }

  #kill(): void {
    try {
      if (this.#child.pid) process.kill(-this.#child.pid, "SIGKILL");
    } catch {
      // Nobody is left.
    }
  }

  #listen(): void {
    const stderr = this.#child.stderr as Readable;
    const frames = this.#child.stdio[FRAMES_FD] as Readable;
    stderr.setEncoding("utf8").on("data", (text: string) => {
      this.#stderr = (this.#stderr + text).slice(-16_384);
    });
    this.#child.on("message", () => {
      this.#worn = true;
      if (!this.#job?.begun) void this.end();
    });
    readFrames(
      frames,
      (frame) => this.#hear(frame),
      () => {
        this.#fault = `wrote to the file descriptor ${FRAMES_FD}, which is not its own`;
        void this.end();
      },
    );
  }

  #hear(frame: Frame): void {
    switch (frame.type) {
      case "begun":
        this.#begin();
        break;
      case "output":
        this.#output?.add(frame.stream, frame.text);
        break;
      case "flood":
        this.#output?.flood();
        break;
      case "stale":
        this.#job?.answer({ kind: "again" });
        break;
      case "end":
        this.#output?.flush();
        this.#job?.answer(frame);
        break;
      case "died":
        this.#fault = frame.fault;
    }
  }

  #begin(): void {
    const job = this.#job;
    if (!job) return;
    job.begun = true;
    this.#output?.flush();
    this.#output = new TransformOutput(job.label, this.#settings.onOutput);
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#late = true;
      void this.end();
    }, this.#settings.timeoutMs);
  }

  async #waitForEnd(): Promise<void> {
    const child = this.#child;
    const { promise: closed, resolve } = Promise.withResolvers<string>();
    let timer: NodeJS.Timeout | undefined;
    child.on("error", ({ code }: NodeJS.ErrnoException) => {
      if (child.pid === undefined) resolve(`could not be started (${code})`);
    });
    child.once("exit", () => {
      this.#exited = true;
      this.#kill(); // what it has started itself
      timer = setTimeout(() => {
        for (const stream of child.stdio) stream?.destroy();
      }, DRAIN_MS);
    });
    child.once("close", (code, signal) => {
      clearTimeout(timer);
      resolve(this.#faultOfExit(code, signal));
    });
    const fault = await closed;
    this.#fault ??= fault;
    this.#output?.flush();
  }

  #faultOfExit(code: number | null, signal: NodeJS.Signals | null): string {
    const fatal = signal !== null && /^FATAL ERROR|^# Fatal JavaScript invalid size/m.test(this.#stderr);
    if (signal === OUT_OF_MEMORY || fatal)
      return `used more than the ${this.#settings.maxMemoryMiB} MiB of memory it may`;
    return `ended its process with ${signal ?? `exit code ${code}`}`;
  }

  #answerOfEnd(job: RunningJob): ThreadAnswer {
    const fault = this.#fault ?? "";
    if (this.#late) {
      const seconds = this.#settings.timeoutMs / 1000;
      return { kind: "failed", fault: `took longer than hooks.transformTimeoutSeconds (${seconds} s)`, spent: true };
    }
    if (this.#jobs > 1) return { kind: "again" };
    return job.begun ? { kind: "failed", fault, spent: true } : { kind: "unavailable", fault };
  }
}
