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

interface RunOptions {
  readonly module: string;
  readonly export?: string;
  readonly payload?: Record<string, unknown>;
  readonly label?: string;
  readonly signal?: AbortSignal;
}

/** A folder of transform modules with the Transforms that run them. */
export class TransformFixture {
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

  run({
    payload,
    label = "run",
    signal = new AbortController().signal,
    ...request
  }: RunOptions): Promise<TransformOutcome> {
    return this.transforms.run({ ...request, label, input: { ...INPUT, payload: payload ?? INPUT.payload } }, signal);
  }

  /** Writes a module and runs it. */
  async runSource(module: string, source: string, options: Omit<RunOptions, "module"> = {}): Promise<TransformOutcome> {
    this.put(module, source);
    return this.run({ module, ...options });
  }

  /** Returns the value that a run of a module returns, or else the kind of its outcome. */
  async valueOf(options: RunOptions): Promise<unknown> {
    const outcome = await this.run(options);
    return "value" in outcome ? outcome.value : outcome.kind;
  }

  /** Waits until `count` printed lines match the pattern, and returns all that do. */
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

/** Returns the error with which a run rejects. */
export async function thrownBy(running: Promise<unknown>): Promise<AppError> {
  const thrown = await running.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (thrown instanceof AppError) return thrown;
  throw thrown ?? new Error("the run did not reject");
}

/** Returns whether a process has ended. A zombie counts as ended: it only waits to be reaped by the init process. */
export async function hasExited(pid: number): Promise<boolean> {
  const { stdout } = await promisify(execFile)("ps", ["-o", "stat=", "-p", String(pid)]).catch(() => ({ stdout: "" }));
  return stdout.trim() === "" || stdout.startsWith("Z");
}
