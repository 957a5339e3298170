import type { RunEvent } from "../../client/client.ts";
import { cleanLine, cleanText } from "./cleanText.ts";
import { cut, outputWidth } from "./columns.ts";

/** Maximum characters of the text that are kept, and lines of it that are drawn. */
const MAX_CHARS = 8_000;
const MAX_LINES = 6;

/** The progress of the agent of a run: the last lines of its text, and its newest tool. */
export class RunText {
  #text = "";
  #tool: string | null = null;

  take({ type, data }: RunEvent): void {
    if (type === "run.started") this.#text = "";
    if (type === "run.started" || type === "tool.completed") this.#tool = null;
    if (type === "message.delta") this.#text = (this.#text + data.delta).slice(-MAX_CHARS);
    if (type === "tool.started") this.#tool = cleanLine(`${data.tool} ${data.preview ?? ""}`);
  }

  /** Returns safe lines that are no wider than the terminal. */
  lines(): string[] {
    const width = outputWidth();
    const pieces = cleanText(this.#text)
      .trim()
      .split("\n")
      .flatMap((line) => (Number.isFinite(width) ? piecesOf(line, width) : [line]));
    const tool = this.#tool === null ? [] : [`> ${this.#tool}`];
    return [...(this.#text.trim() === "" ? [] : pieces.slice(-MAX_LINES)), ...tool].map((line) => cut(line, width));
  }
}

/** Splits a line into pieces of a number of characters; an empty line is one piece. */
function piecesOf(line: string, size: number): string[] {
  const characters = Array.from(line);
  const count = Math.max(1, Math.ceil(characters.length / size));
  return Array.from({ length: count }, (_, i) => characters.slice(i * size, (i + 1) * size).join(""));
}
