import type { ReplyTarget } from "../models/sessions/session.ts";
import type { Stores } from "../models/stores.ts";
import type { Clock } from "../shared/clock.ts";
import type { Config } from "../shared/config/schema/config.ts";
import type { Logger } from "../shared/logger.ts";
import type { Queues } from "../shared/queue/producer.ts";
import type { LiveFeed } from "./live/liveFeed.ts";
import type { Metrics } from "./metrics/metrics.ts";

/** The check of a dependency, for /readyz. */
export interface Probe {
  readonly name: string;
  /** Rejects while the dependency is unavailable. */
  check(): Promise<unknown>;
}

/** The dependencies of handlers and middleware. */
export interface ApiDeps {
  readonly stores: Stores;
  readonly queues: Queues;
  readonly live: LiveFeed;
  readonly hooks: Config["hooks"];
  readonly agent: Config["agents"]["defaults"];
  /** The names of the configured channels. */
  readonly channels: ReadonlySet<string>;
  /** The reply target of the main session until a delivery or an operator sets another one. */
  readonly initialReplyTarget: ReplyTarget | null;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly probes: readonly Probe[];
  /** Returns true once the process is shutting down: it finishes its requests and should receive no more. */
  readonly isStopping: () => boolean;
}
