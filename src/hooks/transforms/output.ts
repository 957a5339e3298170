const MAX_LINES = 1_000;

export type OnOutput = (label: string, stream: "stdout" | "stderr", line: string) => void;

/** What one run prints, cut into lines as it comes; after 1,000 lines, or when told so, a note and no more. */
export class TransformOutput {
  readonly #label: string;
  readonly #onOutput: OnOutput;
  readonly #begun = { stdout: "", stderr: "" };
  #lines = 0;

  constructor(label: string, onOutput: OnOutput) {
    this.#label = label;
    this.#onOutput = onOutput;
  }

  add(stream: "stdout" | "stderr", text: string): void {
    if (this.#lines > MAX_LINES) return;
    const lines = (this.#begun[stream] + text).split(/\r?\n/);
    this.#begun[stream] = lines.pop() as string;
    for (const line of lines) this.#line(stream, line);
  }

  /** Nothing more is shown, and a note says so. */
  flood(): void {
    this.flush();
    this.#lines = Math.max(this.#lines, MAX_LINES);
    this.#line("stderr", "");
  }

  /** Shows the lines that have no end yet. */
  flush(): void {
    for (const stream of ["stdout", "stderr"] as const) {
      const line = this.#begun[stream];
      this.#begun[stream] = "";
      if (line) this.#line(stream, line);
    }
  }

  #line(stream: "stdout" | "stderr", line: string): void {
    this.#lines++;
    if (this.#lines <= MAX_LINES) this.#onOutput(this.#label, stream, line);
    else if (this.#lines === MAX_LINES + 1) this.#onOutput(this.#label, "stderr", "… (this run printed more)");
  }
}
