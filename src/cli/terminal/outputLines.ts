import { StringDecoder } from "node:string_decoder";
import { stripVTControlCharacters } from "node:util";
import { cleanLine } from "./cleanText.ts";

/** Maximum lines and characters of the tail. */
const TAIL_LINES = 20;
const LINE_CHARS = 1_000;

/** Splits the output of a program into clean lines, and keeps the last ones. A carriage return ends a line too. */
export class OutputLines {
  /** Receives each line that is not blank. */
  onLine: (line: string) => void = () => {};
  readonly #tail: string[] = [];

  /** The last line; undefined before the first one. */
  get last(): string | undefined {
    return this.#tail.at(-1);
  }

  /** Returns the last lines. */
  tail(): string {
    return this.#tail.join("\n");
  }

  /** Returns the listeners for one of the program's streams: its data, and its end. */
  stream(): { data(chunk: Buffer): void; end(): void } {
    const decoder = new StringDecoder("utf8");
    let rest = "";
    const take = (text: string) => {
      const lines = (rest + text).split(/[\r\n]+/);
      rest = (lines.pop() ?? "").slice(-LINE_CHARS);
      for (const line of lines) this.#add(line);
    };
    return {
      data: (chunk) => take(decoder.write(chunk)),
      end: () => take(`${decoder.end()}\n`),
    };
  }

  #add(text: string): void {
    const line = cleanLine(stripVTControlCharacters(text)).slice(-LINE_CHARS);
    if (line === "") return;
    this.#tail.push(line);
    if (this.#tail.length > TAIL_LINES) this.#tail.shift();
    this.onLine(line);
  }
}
