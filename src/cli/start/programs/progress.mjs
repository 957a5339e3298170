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
    this.#stream.write(`\r\x1b[K${this.#text} … ${share || seconds}`);
  }

  clear() {
    if (this.#stream.isTTY && this.#text) this.#stream.write("\r\x1b[K");
  }

  /** @param {string} text the result of the action */
  end(text) {
    this.clear();
    this.#text = "";
    this.#stream.write(`${text}\n`);
  }
}
