import { setTimeout as pause } from "node:timers/promises";
import type { Refusal } from "../checks/history.ts";
import type { Random } from "../random.ts";
import { TOKEN } from "../system/system.ts";

/**
 * Request timeout, longer than the service waits for MongoDB: otherwise an abandoned request could take effect late.
 */
const ANSWER_WITHIN_MS = 90_000;

export interface Answer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: looked into by whoever asked
  readonly body: any;
}

/** A client that sends requests to any web process, like a load balancer. */
export class Client {
  readonly #urls: readonly string[];
  readonly #random: Random;
  readonly #refusals: Refusal[];
  readonly #giveUp: AbortSignal;

  /** @param giveUp aborted when retries must stop */
  constructor(urls: readonly string[], random: Random, refusals: Refusal[], giveUp: AbortSignal) {
    this.#urls = urls;
    this.#random = random;
    this.#refusals = refusals;
    this.#giveUp = giveUp;
  }

  /** Returns the URL of a random web process. */
  url(): string {
    return this.#random.pick(this.#urls);
  }

  /** Sends a request once. Returns undefined without a response. */
  async request(method: string, path: string, body?: object, headers: object = {}): Promise<Answer | undefined> {
    try {
      const response = await fetch(this.url() + path, {
        method,
        headers: { Authorization: `Bearer ${TOKEN}`, ...(body && { "Content-Type": "application/json" }), ...headers },
        ...(body && { body: JSON.stringify(body) }),
        signal: AbortSignal.any([AbortSignal.timeout(ANSWER_WITHIN_MS), this.#giveUp]),
      });
      const text = await response.text();
      const answer = { status: response.status, body: text === "" ? null : JSON.parse(text) };
      if (![200, 201, 202, 404, 503].includes(response.status) && !isRepeated(answer)) {
        this.#refusals.push({ what: `${method} ${path}`, status: response.status, text });
      }
      return answer;
    } catch {
      return undefined; // The process or its connection is gone.
    }
  }

  /**
   * Retries a request until it is accepted.
   * @returns undefined when it is refused or retries must stop
   */
  async requestUntilAccepted(
    method: string,
    path: string,
    body?: object,
    headers: object = {},
  ): Promise<Answer | undefined> {
    while (!this.#giveUp.aborted) {
      const answer = await this.request(method, path, body, headers);
      if (answer && (answer.status < 300 || isRepeated(answer))) return answer;
      if (answer?.status === 404) {
        this.#refusals.push({ what: `${method} ${path}`, status: 404, text: JSON.stringify(answer.body) });
      }
      if (answer && answer.status < 500) return undefined;
      await pause(this.#random.whole(50, 400));
    }
    return undefined;
  }
}

/** Returns whether an answer to a gate was recorded before: the response to the first request was lost. */
const isRepeated = ({ status, body }: Answer): boolean => status === 409 && body?.code === "gate_answered";
