const MAX_LINES = 1_000;

export type OnOutput = (label: string, stream: "stdout" | "stderr", line: string) => void;

/**
 * Splits the output of one run into lines and passes them on as they arrive. After 1,000 lines, or after `truncate`, it
 * passes on one note and drops the rest.
 */
export class TransformOutput {
  readonly #label: string;
  readonly #onOutput: OnOutput;
  /** The unfinished last line of each stream. */
  readonly #partial = { stdout: "", stderr: "" };
  #lines = 0;

  constructor(label: string, onOutput: OnOutput) {
    this.#label = label;
    this.#onOutput = onOutput;
  }

  add(stream: "stdout" | "stderr", text: string): void {
    if (this.#lines > MAX_LINES) return;
    const lines = (this.#partial[stream] + text).split(/\r?\n/);
    this.#partial[stream] = lines.pop() as string;
    for (const line of lines) this.#line(stream, line);
  }

  /** Drops all further output and passes on a note about that. */
  truncate(): void {
    this.flush();
    this.#lines = Math.max(this.#lines, MAX_LINES);
    this.#line("stderr", "");
  }

  /** Passes on the lines that have no line break yet. */
  flush(): void {
    for (const stream of ["stdout", "stderr"] as const) {
      const line = this.#partial[stream];
      this.#partial[stream] = "";
      if (line) this.#line(stream, line);
    }
  }

  #line(stream: "stdout" | "stderr", line: string): void {
    this.#lines++;
    if (this.#lines <= MAX_LINES) this.#onOutput(this.#label, stream, line);
    else if (this.#lines === MAX_LINES + 1) this.#onOutput(this.#label, "stderr", "… (this run printed more)");
  }
}
