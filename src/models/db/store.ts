import type { mongo } from "mongoose";
import type { Clock } from "../../shared/clock.ts";
import type { Documents } from "./documents.ts";

/** A collection and the clock of its database. Each subject extends it with its queries and updates. */
export abstract class Store<D extends mongo.Document> {
  readonly collection: Documents<D>;
  protected readonly clock: Clock;

  constructor(collection: Documents<D>, clock: Clock) {
    this.collection = collection;
    this.clock = clock;
  }
}
