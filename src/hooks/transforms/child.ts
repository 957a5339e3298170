import { type ChildProcess, spawn } from "node:child_process";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { signalGroup } from "../../shared/process/processGroup.ts";
import { FRAMES_FD, OUT_OF_MEMORY } from "./transformFrames.mjs";

/** How long to wait for the end of the output after the exit, if a process that left the group holds a pipe open. */
const DRAIN_MS = 1_000;

const MAX_STDERR_LENGTH = 16_384;

const MAIN = fileURLToPath(new URL("./transformMain.mjs", import.meta.url));

export interface ChildSettings {
  /** The real path of hooks.transformsDir. */
  readonly dir: string;
  /** The real path of the module. */
  readonly path: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly maxMemoryMiB: number;
}

/** The process of a transform's thread (transformMain.mjs). It leads a process group, so that its children end with it. */
export class TransformChild {
  /** Undefined if the process could not be started. */
  readonly frames: Readable | undefined;
  /** Resolves when the process has ended and all its output was read, with the rest of the sentence "The transform x …". */
  readonly ended: Promise<string>;
  readonly #process: ChildProcess;
  readonly #maxMemoryMiB: number;
  #stderr = "";
  #exited = false;

  /** @throws the system's error if the process cannot be started; some of these errors arrive through `ended` instead */
  constructor({ dir, path, env, maxMemoryMiB }: ChildSettings) {
    this.#maxMemoryMiB = maxMemoryMiB;
    this.#process = spawn(process.execPath, ["--no-warnings", MAIN, dir, path, String(maxMemoryMiB)], {
      env,
      detached: true,
      serialization: "advanced",
      stdio: ["ignore", "ignore", "pipe", "pipe", "ipc"],
    });
    this.frames = this.#process.stdio?.[FRAMES_FD] as Readable | undefined;
    this.#process.stderr?.setEncoding("utf8").on("data", (text: string) => {
      this.#stderr = (this.#stderr + text).slice(-MAX_STDERR_LENGTH);
    });
    this.ended = this.#waitForEnd();
  }

  /** Sends a message. A message to an ended process is dropped, since `ended` reports that. @throws if it cannot be cloned */
  send(message: object): void {
    if (this.#process.connected) this.#process.send(message, () => {});
  }

  /** Calls the listener once the process has used so much CPU time that it now has the lowest priority. */
  onLowestPriority(listener: () => void): void {
    this.#process.on("message", listener);
  }

  kill(): void {
    if (!this.#exited) this.#killGroup();
  }

  #killGroup(): void {
    if (this.#process.pid) signalGroup(this.#process.pid, "SIGKILL");
  }

  #waitForEnd(): Promise<string> {
    const child = this.#process;
    return new Promise((resolve) => {
      let timer: NodeJS.Timeout | undefined;
      child.on("error", ({ code }: NodeJS.ErrnoException) => {
        if (child.pid === undefined) resolve(`could not be started (${code})`);
      });
      child.once("exit", () => {
        this.#exited = true;
        this.#killGroup(); // ends its children
        timer = setTimeout(() => {
          for (const stream of child.stdio) stream?.destroy();
        }, DRAIN_MS);
      });
      child.once("close", (code, signal) => {
        clearTimeout(timer);
        resolve(this.#describeEnd(code, signal));
      });
    });
  }

  #describeEnd(code: number | null, signal: NodeJS.Signals | null): string {
    const isV8Fatal = signal !== null && /^FATAL ERROR|^# Fatal JavaScript invalid size/m.test(this.#stderr);
    if (signal !== OUT_OF_MEMORY && !isV8Fatal) return `ended its process with ${signal ?? `exit code ${code}`}`;
    return `used more memory than hooks.transformMemoryMiB (${this.#maxMemoryMiB} MiB)`;
  }
}
