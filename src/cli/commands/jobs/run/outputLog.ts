import { StringDecoder } from "node:string_decoder";
import type { StreamName } from "./outputTail.ts";

/** Bytes that are kept between two requests: few enough to copy from a program that writes 1 GB/s. */
const MAX_BYTES = 60 * 1024;

/**
 * Collects the output of a program for the log of its step. Of more output between two calls of `take` than a request takes, the
 * end is kept, and a line says how much is missing.
 */
export class OutputLog {
  #chunks: { readonly name: StreamName; readonly bytes: Buffer }[] = [];
  #size = 0;
  #missing = 0;
  /** Receives the end of chunks that leave no room for others, so that fast output allocates no memory. */
  readonly #large = Buffer.allocUnsafeSlow(MAX_BYTES);
  readonly #decoders = { stdout: new StringDecoder("utf8"), stderr: new StringDecoder("utf8") };
  readonly #rests = { stdout: "", stderr: "" };

  /** Adds a chunk of output. Its memory may be used again afterwards. */
  add(name: StreamName, chunk: Buffer): void {
    if (chunk.length >= MAX_BYTES) {
      chunk.copy(this.#large, 0, chunk.length - MAX_BYTES);
      this.#missing += this.#size + chunk.length - MAX_BYTES;
      this.#chunks = [{ name, bytes: this.#large }];
      this.#size = MAX_BYTES;
      return;
    }
    const bytes = Buffer.from(chunk);
    this.#chunks.push({ name, bytes });
    this.#size += bytes.length;
    while (this.#size > MAX_BYTES) {
      const { name: of, bytes: oldest } = this.#chunks.shift() as { name: StreamName; bytes: Buffer };
      const surplus = Math.min(oldest.length, this.#size - MAX_BYTES);
      if (surplus < oldest.length) this.#chunks.unshift({ name: of, bytes: oldest.subarray(surplus) });
      this.#size -= surplus;
      this.#missing += surplus;
    }
  }

  /** Returns the lines since the last call, those of both streams in the order in which they ended. @param isEnd whether a line without its end counts too */
  take(isEnd = false): string {
    const chunks = this.#chunks;
    let text = this.#missing > 0 ? `[${this.#missing} bytes of output are left out]\n` : "";
    if (this.#missing > 0) this.#rests.stdout = this.#rests.stderr = "";
    this.#chunks = [];
    this.#size = 0;
    this.#missing = 0;
    for (const { name, bytes } of chunks) {
      const lines = this.#rests[name] + this.#decoders[name].write(bytes);
      const end = lines.lastIndexOf("\n") + 1;
      text += lines.slice(0, end);
      this.#rests[name] = lines.slice(end).slice(-MAX_BYTES);
    }
    if (!isEnd) return text;
    for (const rest of Object.values(this.#rests)) if (rest !== "") text += `${rest}\n`;
    return text;
  }
}
