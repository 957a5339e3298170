import { AppError } from "./errors.ts";

interface Waiting<In, Out> {
  readonly item: In;
  readonly resolve: (out: Out) => void;
  readonly reject: (error: unknown) => void;
}

export interface TogetherOptions<In> {
  /** Most items of one act, and most weight of them together; one that weighs more goes alone. */
  readonly most: number;
  readonly mostWeight: number;
  weightOf(item: In): number;
  /**
   * How many acts may be under way; two unless told. Another one begins with as many items as are under way already, or
   * with the most there may be: acts that overlap are about as large as one another.
   */
  readonly atOnce?: number;
  /** Items of the same key are never in two acts at once. */
  keyOf?(item: In): string;
  /**
   * An act that waits begins before the items of the one that has ended are told. Where an act takes a server longer than
   * telling takes this process, the server has work meanwhile; elsewhere acts are only made smaller.
   */
  readonly actsFirst?: boolean;
  /** The least time from the beginning of one act to that of the next: what nobody waits for becomes fewer acts. */
  readonly everyMs?: number;
  /**
   * How long an act waits at most for as many items as the one before it had, or for `LINGERS_FOR` of them: those who were
   * told at the same time ask again at about the same time. Where an act takes a server less than asking for it.
   */
  readonly lingerMs?: number;
  /**
   * It looks in each turn of the event loop whether they have come: timers know nothing shorter than a millisecond. That takes
   * the processor from whoever else has work.
   */
  readonly lingersAwake?: boolean;
}

/** Of so many together each costs little more than of twice as many. */
const LINGERS_FOR = 16;

/** For items of which one is as good as another. */
export const ALIKE = { most: 500, mostWeight: 500, weightOf: () => 1 } as const;

/**
 * Does what is asked for at about the same time in one act: what comes while others are under way forms the next one, so that
 * the busier it gets the less each item costs. What comes alone waits for nobody, or for a moment where it was not alone before.
 */
export class Together<In, Out> {
  readonly #act: (items: readonly In[]) => Promise<readonly (Out | Error)[]>;
  readonly #options: TogetherOptions<In>;
  #waiting: Waiting<In, Out>[] = [];
  /** The keys of each act that is under way. */
  #acts: readonly ReadonlySet<string>[] = [];
  /** Items of these acts. */
  #underWay = 0;
  #isGathering = false;
  #notBefore = 0;
  /** Items of the act that began last. */
  #lastSize = 0;
  /** What is called with each item that comes while an act lingers. */
  #onAdded: (() => void) | undefined;

  /**
   * @param act gives for each item, in their order, what becomes of it or why it fails. Where it throws `unavailable`, that
   *   goes for all of them; where it throws anything else, each is asked for alone, so that the one at fault fails alone
   */
  constructor(act: (items: readonly In[]) => Promise<readonly (Out | Error)[]>, options: TogetherOptions<In>) {
    this.#act = act;
    this.#options = options;
  }

  /** Rejects with what is wrong with this item, or with what the act throws of it alone. */
  add(item: In): Promise<Out> {
    const { promise, resolve, reject } = Promise.withResolvers<Out>();
    this.#waiting.push({ item, resolve, reject });
    this.#onAdded?.();
    this.#gather();
    return promise;
  }

  /** Acts on what waits, with what else arrives in the same turn of the event loop, or before an act may begin. */
  #gather(): void {
    if (this.#isGathering || !this.#isEnough()) return;
    this.#isGathering = true;
    const act = () => {
      this.#isGathering = false;
      if (this.#isEnough()) void this.#actOnNext();
    };
    const ms = this.#notBefore - performance.now();
    if (ms > 0) setTimeout(act, ms);
    else setImmediate(() => this.#linger(act));
  }

  /** Acts once there are as many as in the act before, or it has waited for them long enough. */
  #linger(act: () => void): void {
    const { lingerMs = 0, lingersAwake } = this.#options;
    const isShort = () => this.#waiting.length < Math.min(this.#lastSize, LINGERS_FOR);
    if (lingerMs === 0 || !isShort()) act();
    else if (lingersAwake) {
      const until = performance.now() + lingerMs;
      const look = () => {
        if (isShort() && performance.now() < until) setImmediate(look);
        else act();
      };
      look();
    } else {
      const end = () => {
        clearTimeout(timer);
        this.#onAdded = undefined;
        setImmediate(act);
      };
      const timer = setTimeout(end, lingerMs);
      this.#onAdded = () => {
        if (!isShort()) end();
      };
    }
  }

  #isEnough(): boolean {
    const { atOnce = 2, most } = this.#options;
    const enough = Math.max(1, Math.min(this.#underWay, most));
    return this.#acts.length < atOnce && this.#waiting.length >= enough;
  }

  async #actOnNext(): Promise<void> {
    const batch = this.#take();
    if (batch.length === 0) return; // what waits is about what is being acted on
    const keys = new Set(batch.flatMap(({ item }) => this.#options.keyOf?.(item) ?? []));
    this.#acts = [...this.#acts, keys];
    this.#underWay += batch.length;
    this.#lastSize = batch.length;
    if (this.#options.everyMs) this.#notBefore = performance.now() + this.#options.everyMs;
    this.#gather();
    const tell = await this.#actOn(batch);
    this.#acts = this.#acts.filter((other) => other !== keys);
    this.#underWay -= batch.length;
    if (this.#options.actsFirst && this.#isEnough()) {
      void this.#actOnNext();
      setImmediate(tell);
      return;
    }
    tell();
    this.#gather();
  }

  /** The first of those that wait, as far as they may be acted on now. */
  #take(): Waiting<In, Out>[] {
    const { most, mostWeight, weightOf, keyOf } = this.#options;
    const taken: Waiting<In, Out>[] = [];
    const left: Waiting<In, Out>[] = [];
    let weight = 0;
    let isFull = false;
    for (const one of this.#waiting) {
      const isBusy = keyOf !== undefined && this.#acts.some((keys) => keys.has(keyOf(one.item)));
      if (!isBusy && !isFull) {
        weight += weightOf(one.item);
        isFull = taken.length === most || (taken.length > 0 && weight > mostWeight);
      }
      if (isBusy || isFull) left.push(one);
      else taken.push(one);
    }
    this.#waiting = left;
    return taken;
  }

  /** @returns what tells each of them what has become of it */
  async #actOn(batch: readonly Waiting<In, Out>[]): Promise<() => void> {
    try {
      const outs = await this.#act(batch.map(({ item }) => item));
      return () => {
        for (const [i, { resolve, reject }] of batch.entries()) {
          const out = outs[i];
          if (out instanceof Error) reject(out);
          else resolve(out as Out);
        }
      };
    } catch (error) {
      if (batch.length === 1 || isUnavailable(error)) return () => batch.forEach(({ reject }) => void reject(error));
      for (const one of batch) (await this.#actOn([one]))();
      return () => {};
    }
  }
}

const isUnavailable = (error: unknown): boolean => error instanceof AppError && error.code === "unavailable";
