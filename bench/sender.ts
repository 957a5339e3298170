import { Agent, type IncomingMessage, request } from "node:http";
import { text } from "node:stream/consumers";
import { setTimeout as pause } from "node:timers/promises";
import { Mix, type MixedRequest } from "./mix.ts";
import { quantile } from "./statistics.ts";

/** Latencies in milliseconds, from the moment when each request was due. */
export interface Latencies {
  readonly answered: number;
  readonly p50: number;
  readonly p99: number;
}

/** Number of streams of live events that stay open. */
const STREAMS = 5;
const SHOWN_FAULTS = 20;
const TICK_MS = 5;

/** Sends mixed requests and checks their responses. */
export class Sender {
  readonly mix: Mix;
  /** Descriptions of the first errors. */
  readonly faults: string[] = [];
  errors = 0;
  readonly #url: URL;
  readonly #agent = new Agent({ keepAlive: true });
  readonly #streams: IncomingMessage[] = [];
  readonly #pending = new Set<Promise<void>>();
  #latencies: number[] = [];

  constructor(url: string, seed: number) {
    this.#url = new URL(url);
    this.mix = new Mix(seed);
  }

  /** Sends at a rate regardless of responses. */
  async sendAt(perSecond: number, seconds: number): Promise<void> {
    const started = performance.now();
    const total = perSecond * seconds;
    for (let sent = 0; sent < total; await pause(TICK_MS)) {
      for (const due = (performance.now() - started) * (perSecond / 1_000); sent < Math.min(due, total); sent++) {
        const sending = this.#send(started + (sent * 1_000) / perSecond).finally(() => this.#pending.delete(sending));
        this.#pending.add(sending);
      }
    }
  }

  /** Returns the latencies since the last call. */
  takeLatencies(): Latencies {
    const sorted = this.#latencies.sort((a, b) => a - b);
    this.#latencies = [];
    if (sorted.length === 0) return { answered: 0, p50: 0, p99: 0 };
    return { answered: sorted.length, p50: quantile(sorted, 0.5), p99: quantile(sorted, 0.99) };
  }

  /** Waits for pending requests and closes all connections. */
  async end(): Promise<void> {
    await Promise.all(this.#pending);
    for (const stream of this.#streams) stream.destroy();
    this.#agent.destroy();
  }

  /** Sends one request and counts its result; never rejects. */
  async #send(due: number): Promise<void> {
    const mixed = this.mix.next();
    try {
      await this.#ask(mixed);
    } catch (error) {
      this.errors++;
      if (this.faults.length < SHOWN_FAULTS) this.faults.push(`${mixed.kind}: ${(error as Error).message}`);
    }
    this.#latencies.push(performance.now() - due);
  }

  async #ask({ method, path, headers, body, expects, stream, onResponse }: MixedRequest): Promise<void> {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const sent = request(new URL(path, this.#url), { agent: this.#agent, method, headers: { ...headers } });
      sent.once("response", resolve).once("error", reject).end(body);
    });
    const status = response.statusCode ?? 0;
    if (stream && status === 200) return this.#hold(response);
    const answer = await text(response);
    if (!expects.includes(status)) throw new Error(`${method} ${path} was answered ${status}: ${answer.slice(0, 200)}`);
    onResponse?.(answer);
  }

  /** Keeps a stream open until several others have been opened. */
  async #hold(stream: IncomingMessage): Promise<void> {
    stream.on("error", () => {}); // The stream is closed in the middle.
    await new Promise((begun) => stream.once("data", begun));
    stream.resume();
    this.#streams.push(stream);
    if (this.#streams.length > STREAMS) this.#streams.shift()?.destroy();
  }
}
