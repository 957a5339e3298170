/**
 * The actions under way by their Progress. They share the last line of a terminal.
 * @type {Map<Progress, string>}
 */
const shown = new Map();

/** Shows the current action: one line that is rewritten on a terminal, plain lines elsewhere. */
export class Progress {
  #stream;
  #text = "";
  #since = 0;

  /** @param {NodeJS.WriteStream} stream */
  constructor(stream) {
    this.#stream = stream;
  }

  /** @param {string} text */
  begin(text) {
    this.#text = text;
    this.#since = Date.now();
    if (this.#stream.isTTY) this.tick();
    else this.#stream.write(`${text} …\n`);
  }

  /**
   * Shows the progress, on a terminal only.
   * @param {number} [bytes]
   * @param {number} [total]
   */
  tick(bytes, total) {
    if (!this.#stream.isTTY) return;
    const seconds = `${Math.round((Date.now() - this.#since) / 1000)} s`;
    const size = bytes && `${(bytes / 1e6).toFixed(0)} MB`;
    const share = bytes && total ? `${Math.min(99, Math.floor((bytes / total) * 100))} %` : size;
    shown.set(this, `${this.#text} … ${share || seconds}`);
    const line = [...shown.values()].join(" | ");
    this.#stream.write(`\r\x1b[K${line.slice(0, this.#stream.columns || undefined)}`);
  }

  /** @param {string} text the result of the action */
  end(text) {
    Progress.clear(this.#stream);
    shown.delete(this);
    this.#stream.write(`${text}\n`);
  }

  /**
   * Removes the line of the actions under way, which the next tick of any of them shows again.
   * @param {NodeJS.WriteStream} stream
   */
  static clear(stream) {
    if (stream.isTTY && shown.size > 0) stream.write("\r\x1b[K");
  }
}
