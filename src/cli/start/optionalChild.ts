import type { Child } from "./child.ts";
import type { Supervised } from "./supervised.ts";

/** A process that runs only while the configuration requires it. */
export class OptionalChild {
  readonly #create: () => Supervised<Child>;
  #running: Supervised<Child> | undefined;

  /** @param create returns a process that is not started yet; the caller stops it at the end */
  constructor(create: () => Supervised<Child>) {
    this.#create = create;
  }

  /**
   * Starts or stops the process. A process that already runs reads its configuration again.
   * @returns why a process that runs keeps its previous configuration
   * @throws StartError if it does not start; ReportedStartError if it has printed the reason
   */
  async setWanted(isWanted: boolean): Promise<string | undefined> {
    const running = this.#running;
    if (running && isWanted) return running.reload();
    this.#running = isWanted ? this.#create() : undefined;
    await running?.stop();
    try {
      await this.#running?.start();
      return undefined;
    } catch (error) {
      this.#running = undefined;
      throw error;
    }
  }

  async restart(): Promise<void> {
    await this.#running?.restart();
  }
}
