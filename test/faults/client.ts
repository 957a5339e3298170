import { setTimeout as pause } from "node:timers/promises";
import { TOKEN } from "./bed.ts";
import type { Refusal } from "./history.ts";
import type { Random } from "./random.ts";

/** Longer than a process of ours waits for MongoDB: who gives up before is overtaken by what he has sent. */
const ANSWER_WITHIN_MS = 90_000;

export interface Answer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: looked into by whoever asked
  readonly body: any;
}

/** A client before all web processes, as behind a balancer. */
export class Client {
  readonly #urls: readonly string[];
  readonly #random: Random;
  readonly #refusals: Refusal[];
  readonly #given: AbortSignal;

  /** @param given fires when nobody is to insist any longer */
  constructor(urls: readonly string[], random: Random, refusals: Refusal[], given: AbortSignal) {
    this.#urls = urls;
    this.#random = random;
    this.#refusals = refusals;
    this.#given = given;
  }

  /** Any of the web processes. */
  url(): string {
    return this.#random.pick(this.#urls);
  }

  /** @returns undefined where no answer came */
  async ask(method: string, path: string, body?: object, headers: object = {}): Promise<Answer | undefined> {
    try {
      const response = await fetch(this.url() + path, {
        method,
        headers: { Authorization: `Bearer ${TOKEN}`, ...(body && { "Content-Type": "application/json" }), ...headers },
        ...(body && { body: JSON.stringify(body) }),
        signal: AbortSignal.any([AbortSignal.timeout(ANSWER_WITHIN_MS), this.#given]),
      });
      const text = await response.text();
      if (![200, 201, 202, 404, 503].includes(response.status)) {
        this.#refusals.push({ what: `${method} ${path}`, status: response.status, text });
      }
      return { status: response.status, body: text === "" ? null : JSON.parse(text) };
    } catch {
      return undefined; // the process, or the connection to it, is gone
    }
  }

  /**
   * Sends the same until it is taken, as a sensible client does.
   * @returns undefined where it is refused, or nobody is to insist any longer
   */
  async insist(method: string, path: string, body?: object, headers: object = {}): Promise<Answer | undefined> {
    while (!this.#given.aborted) {
      const answer = await this.ask(method, path, body, headers);
      if (answer && answer.status < 300) return answer;
      if (answer?.status === 404) {
        this.#refusals.push({ what: `${method} ${path}`, status: 404, text: JSON.stringify(answer.body) });
      }
      if (answer && answer.status < 500) return undefined;
      await pause(this.#random.whole(50, 400));
    }
    return undefined;
  }
}
