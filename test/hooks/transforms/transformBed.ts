import { execFile } from "node:child_process";
import { EventEmitter, once } from "node:events";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { type TransformOutcome, Transforms, type TransformsOptions } from "../../../src/hooks/transforms/transforms.ts";
import { AppError } from "../../../src/shared/errors.ts";

export const INPUT = {
  payload: { a: 1 } as Record<string, unknown>,
  headers: { "x-a": "b" },
  url: "/hooks/x?c=d",
  path: "x",
  query: { c: "d" },
};

interface Asked {
  readonly module: string;
  readonly export?: string;
  readonly payload?: Record<string, unknown>;
  readonly label?: string;
  readonly signal?: AbortSignal;
}

/** A folder of transform modules and what carries them out. */
export class TransformBed {
  readonly dir: string;
  readonly transforms: Transforms;
  /** Everything printed, as `label stream line`. */
  readonly printed: string[] = [];
  readonly #prints = new EventEmitter();

  constructor(options: Partial<TransformsOptions> = {}) {
    this.dir = realpathSync(mkdtempSync(join(tmpdir(), "signalbox-transforms-")));
    this.transforms = new Transforms({
      dir: this.dir,
      timeoutMs: 60_000, // a flood of output takes long on a busy machine
      maxMemoryMiB: 64,
      maxThreads: 4,
      env: { PATH: process.env.PATH },
      onOutput: (label, stream, line) => {
        this.printed.push(`${label} ${stream} ${line}`);
        this.#prints.emit("line");
      },
      ...options,
    });
  }

  put(name: string, source: string): void {
    const file = join(this.dir, name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, source);
  }

  run({ payload, label = "run", signal = new AbortController().signal, ...asked }: Asked): Promise<TransformOutcome> {
    return this.transforms.run({ ...asked, label, input: { ...INPUT, payload: payload ?? INPUT.payload } }, signal);
  }

  /** Writes a module and runs it. */
  async runSource(module: string, source: string, asked: Omit<Asked, "module"> = {}): Promise<TransformOutcome> {
    this.put(module, source);
    return this.run({ module, ...asked });
  }

  /** The value that a module's run answers. */
  async valueOf(asked: Asked): Promise<unknown> {
    const outcome = await this.run(asked);
    return "value" in outcome ? outcome.value : outcome.kind;
  }

  /** Waits until so many lines are printed that match. @returns them */
  async lines(pattern: RegExp, count: number): Promise<string[]> {
    for (;;) {
      const found = this.printed.filter((line) => pattern.test(line));
      if (found.length >= count) return found;
      await once(this.#prints, "line");
    }
  }

  async close(): Promise<void> {
    await this.transforms.close();
    rmSync(this.dir, { recursive: true });
  }
}

/** What a run rejects with. */
export async function thrownBy(running: Promise<unknown>): Promise<AppError> {
  const thrown = await running.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (thrown instanceof AppError) return thrown;
  throw thrown ?? new Error("nothing was thrown");
}

/** Whether a process is over; a zombie is, which waits for the system's first process to ask for it. */
export async function isOver(pid: number): Promise<boolean> {
  const { stdout } = await promisify(execFile)("ps", ["-o", "stat=", "-p", String(pid)]).catch(() => ({ stdout: "" }));
  return stdout.trim() === "" || stdout.startsWith("Z");
}
