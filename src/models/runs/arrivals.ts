/** The runs of each mapping that requests to this process are about to store: no count of the waiting runs contains these. */
export class Arrivals {
  readonly #counts = new Map<string, number>();

  /** Calls `act`, which stores `count` runs of a mapping, with the number of those that earlier requests are about to store. */
  async during<T>(mapping: string, count: number, act: (arriving: number) => Promise<T>): Promise<T> {
    const arriving = this.#counts.get(mapping) ?? 0;
    this.#counts.set(mapping, arriving + count);
    try {
      return await act(arriving);
    } finally {
      const left = (this.#counts.get(mapping) ?? 0) - count;
      if (left > 0) this.#counts.set(mapping, left);
      else this.#counts.delete(mapping);
    }
  }
}
