import type { Child } from "./child.ts";
import type { Supervised } from "./supervised.ts";

/** A process that runs while the configuration wants it. */
export class OptionalChild {
  readonly #make: () => Supervised<Child>;
  #running: Supervised<Child> | undefined;

  /** @param make gives one that is not started yet, and is stopped by whoever stops all */
  constructor(make: () => Supervised<Child>) {
    this.#make = make;
  }

  /**
   * Starts it, or ends it; has one that runs read its configuration again.
   * @throws StartError when it does not come up; ChildFailed when it has told why
   */
  async want(isWanted: boolean): Promise<void> {
    const running = this.#running;
    if (running && isWanted) return running.signal("SIGHUP");
    this.#running = isWanted ? this.#make() : undefined;
    await running?.stop();
    try {
      await this.#running?.start();
    } catch (error) {
      this.#running = undefined;
      throw error;
    }
  }

  async restart(): Promise<void> {
    await this.#running?.restart();
  }
}
