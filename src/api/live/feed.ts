import type { Stores } from "../../models/stores.ts";
import { AppError } from "../../shared/errors.ts";
import { EventStream } from "./eventStream.ts";

/** The life of the event streams of a feed: their beginning, their heartbeats, and their end with the process or its configuration. */
export abstract class Feed<Subscriber extends { readonly stream: EventStream }> {
  protected readonly subscribers = new Set<Subscriber>();
  protected stores: Stores;
  protected isEnded = false;
  readonly #heartbeat: NodeJS.Timeout;

  constructor(stores: Stores, heartbeatMs: number) {
    this.stores = stores;
    this.#heartbeat = setInterval(() => this.sendHeartbeats(), heartbeatMs).unref();
  }

  /** Sends a heartbeat to each subscriber, and ends the streams of those whose access has ended. */
  protected abstract sendHeartbeats(): void;

  /** Opens the stream of a subscriber. @throws AppError unavailable once the process is stopping */
  protected add(subscriberOf: (stream: EventStream) => Subscriber): Subscriber {
    if (this.isEnded) {
      throw new AppError("unavailable", { detail: "The service is stopping. Connect again.", retryAfterSeconds: 1 });
    }
    const subscriber = subscriberOf(new EventStream());
    this.subscribers.add(subscriber);
    subscriber.stream.once("close", () => this.subscribers.delete(subscriber));
    return subscriber;
  }

  /** The number of open streams. */
  get size(): number {
    return this.subscribers.size;
  }

  /** Ends all streams, so that their clients reconnect. @param stores the stores to read from then on */
  restart(stores: Stores): void {
    this.stores = stores;
    for (const { stream } of this.subscribers) stream.end();
  }

  /** Ends all streams and opens no more. */
  end(): void {
    this.isEnded = true;
    for (const { stream } of this.subscribers) stream.end();
  }

  close(): void {
    this.end();
    clearInterval(this.#heartbeat);
  }
}
