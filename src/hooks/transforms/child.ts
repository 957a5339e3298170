import { type ChildProcess, spawn } from "node:child_process";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { FRAMES_FD, OUT_OF_MEMORY } from "./transformFrames.mjs";

/** How long output is waited for after the end, when something that left the group holds it open. */
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

/** The process of a transform's thread (transformMain.mjs), the leader of a group, so that what it starts ends with it. */
export class TransformChild {
  /** Undefined when it could not be started. */
  readonly frames: Readable | undefined;
  /** How it ended, once it is gone and all that it said has been read: completes "The transform x …". */
  readonly ended: Promise<string>;
  readonly #process: ChildProcess;
  readonly #maxMemoryMiB: number;
  #stderr = "";
  #exited = false;

  /** @throws the error of the system that does not start it; some such errors come as its end */
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

  /** Hands a message over; when nobody takes it any more, that is the end. @throws when it cannot be cloned */
  send(message: object): void {
    if (this.#process.connected) this.#process.send(message, () => {});
  }

  /** What it tells besides its frames: that it has taken so much time that it has the lowest priority now. */
  onWorn(listener: () => void): void {
    this.#process.on("message", listener);
  }

  kill(): void {
    if (!this.#exited) this.#killGroup();
  }

  #killGroup(): void {
    try {
      if (this.#process.pid) process.kill(-this.#process.pid, "SIGKILL");
    } catch {
      // Nobody is left.
    }
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
        this.#killGroup(); // what it has started
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
    const fatal = signal !== null && /^FATAL ERROR|^# Fatal JavaScript invalid size/m.test(this.#stderr);
    if (signal !== OUT_OF_MEMORY && !fatal) return `ended its process with ${signal ?? `exit code ${code}`}`;
    return `took more memory than hooks.transformMemoryMiB (${this.#maxMemoryMiB} MiB)`;
  }
}
