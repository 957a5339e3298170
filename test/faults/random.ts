/** A generator of random numbers whose sequence depends on a seed only. */
export interface Random {
  /** Returns a number in [0, 1). */
  next(): number;
  /** Returns an integer, both bounds included. */
  whole(min: number, max: number): number;
  pick<T>(list: readonly T[]): T;
  shuffled<T>(list: readonly T[]): T[];
  /** Returns a generator with a sequence of its own, so that one part's draws do not affect another's. */
  fork(name: string): Random;
}

export function seeded(seed: number, name = ""): Random {
  let state = [...name].reduce((hash, letter) => Math.imul(hash ^ letter.charCodeAt(0), 0x01000193), seed | 0);
  // mulberry32
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const whole = (min: number, max: number) => min + Math.floor(next() * (max - min + 1));
  return {
    next,
    whole,
    pick: <T>(list: readonly T[]) => list[whole(0, list.length - 1)] as T,
    shuffled<T>(list: readonly T[]) {
      const drawn = list.map((item) => ({ item, at: next() }));
      return drawn.sort((one, other) => one.at - other.at).map(({ item }) => item);
    },
    fork: (part) => seeded(seed, `${name}/${part}`),
  };
}
