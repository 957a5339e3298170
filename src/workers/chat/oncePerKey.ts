/** Maximum keys that are remembered. */
const MAX_KEYS = 10_000;

/** Remembers which keys this process has met, so that it records something only once for each. */
export class OncePerKey {
  readonly #known = new Set<string>();

  /** Returns whether the key was not met before. */
  isNew(key: string): boolean {
    if (this.#known.has(key)) return false;
    if (this.#known.size >= MAX_KEYS) this.#known.clear();
    this.#known.add(key);
    return true;
  }
}
