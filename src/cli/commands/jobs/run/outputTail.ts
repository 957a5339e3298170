import { StringDecoder } from "node:string_decoder";
import { stripVTControlCharacters } from "node:util";
import { cleanLine } from "../../../terminal/cleanText.ts";

/** Maximum lines and characters of the tail. */
const TAIL_LINES = 20;
const LINE_CHARS = 1_000;

/** Bytes that are kept: enough for the tail of most programs, and few enough to copy from each chunk of a fast one. */
const KEPT_BYTES = 32 * 1024;

export type StreamName = "stdout" | "stderr";

/** Keeps the end of a program's output, and splits it into lines only when they are read: a program may write 1 GB/s. */
export class OutputTail {
  #chunks: { readonly name: StreamName; readonly bytes: Buffer }[] = [];
  #size = 0;
  /** Receives the end of chunks that leave no room for others, so that fast output allocates no memory. */
  readonly #large = Buffer.allocUnsafeSlow(KEPT_BYTES);

  /** Adds a chunk of output. Its memory may be used again afterwards. */
  add(name: StreamName, chunk: Buffer): void {
    if (chunk.length >= KEPT_BYTES) {
      chunk.copy(this.#large, 0, chunk.length - KEPT_BYTES);
      this.#chunks = [{ name, bytes: this.#large }];
      this.#size = KEPT_BYTES;
      return;
    }
    this.#chunks.push({ name, bytes: Buffer.from(chunk) });
    this.#size += chunk.length;
    while (this.#size - (this.#chunks[0]?.bytes.length ?? 0) >= KEPT_BYTES) {
      this.#size -= this.#chunks.shift()?.bytes.length ?? 0;
    }
  }

  /** Returns the last lines of both streams, in the order in which they ended. */
  lines(): string[] {
    const splitters = { stdout: new LineSplitter(), stderr: new LineSplitter() };
    const lines = this.#chunks.flatMap(({ name, bytes }) => splitters[name].add(bytes));
    return [...lines, ...splitters.stdout.end(), ...splitters.stderr.end()].slice(-TAIL_LINES);
  }
}

/** Splits output into clean lines that are not blank. A carriage return ends a line too. */
export class LineSplitter {
  readonly #decoder = new StringDecoder("utf8");
  #rest = "";

  /** Returns the lines that end in a chunk. */
  add(chunk: Buffer): string[] {
    return this.#take(this.#decoder.write(chunk));
  }

  /** Returns the line that the end of the output ends. */
  end(): string[] {
    return this.#take(`${this.#decoder.end()}\n`);
  }

  #take(text: string): string[] {
    const lines = (this.#rest + text).split(/[\r\n]+/);
    this.#rest = (lines.pop() ?? "").slice(-LINE_CHARS);
    return lines
      .map((line) => cleanLine(stripVTControlCharacters(line)).slice(-LINE_CHARS))
      .filter((line) => line !== "");
  }
}
