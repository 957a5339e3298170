import stringWidth from "string-width";
import { throttle } from "../throttle.ts";
import { outputWidth } from "./columns.ts";

const HIDE_CURSOR = "\x1b[?25l";
const SHOW_CURSOR = "\x1b[?25h";
/** Makes the terminal cut lines that are wider than measured. If it wrapped them, all later lines would shift. */
const WRAP_OFF = "\x1b[?7l";
const WRAP_ON = "\x1b[?7h";
const CLEAR_BELOW = "\x1b[J";
const CLEAR_REST = "\x1b[K";
const up = (lines: number) => (lines > 0 ? `\x1b[${lines}A` : "");

/** Minimum interval between two drawings after changes. */
const REDRAW_MS = 100;
/** Interval of drawings without changes, which update the displayed ages. */
const TICK_MS = 1_000;

/** Lines at the end of the terminal that are redrawn in place: when they change, and each second. */
export class LiveBlock {
  readonly #lines: () => readonly string[];
  readonly #tick: NodeJS.Timeout;
  #drawn: readonly string[] = [];

  /** @param lines returns the current lines: safe texts, no wider than the terminal, fewer than its rows */
  constructor(lines: () => readonly string[]) {
    this.#lines = lines;
    this.#tick = setInterval(() => this.#draw(), TICK_MS);
    process.stdout.on("resize", this.changed);
    process.stdout.write(HIDE_CURSOR);
  }

  /** Schedules a drawing. Several changes within the interval are drawn once. */
  readonly changed = throttle(() => this.#draw(), REDRAW_MS);

  /** Draws the last state, which stays on the terminal, and restores the terminal's settings. */
  close(): void {
    this.#draw();
    clearInterval(this.#tick);
    process.stdout.off("resize", this.changed);
    process.stdout.write(SHOW_CURSOR);
  }

  #draw(): void {
    this.changed.cancel();
    // A terminal that has become narrower has wrapped the drawn lines.
    const rows = this.#drawn.map((line) => Math.max(1, Math.ceil(stringWidth(line) / outputWidth())));
    const height = rows.reduce((sum, one) => sum + one, 0);
    this.#drawn = this.#lines();
    const text = this.#drawn.map((line) => `${line}${CLEAR_REST}\n`).join("");
    process.stdout.write(`${WRAP_OFF}${up(height)}\r${text}${CLEAR_BELOW}${WRAP_ON}`);
  }
}
