import type { ReplyTarget } from "../models/sessions/session.ts";
import type { Stores } from "../models/stores.ts";
import type { Clock } from "../shared/clock.ts";
import type { Config } from "../shared/config/schema/config.ts";
import type { Logger } from "../shared/logger.ts";
import type { Queues } from "../shared/queue/producer.ts";
import type { LiveFeed } from "./live/liveFeed.ts";
import type { Metrics } from "./metrics/metrics.ts";

/** One thing this process cannot work without, or cannot work well without. */
export interface Probe {
  readonly name: string;
  /** Rejects while the thing is missing. */
  check(): Promise<unknown>;
}

/** What handlers and middleware are given. */
export interface ApiDeps {
  readonly stores: Stores;
  readonly queues: Queues;
  readonly live: LiveFeed;
  readonly hooks: Config["hooks"];
  readonly agent: Config["agents"]["defaults"];
  /** The channels that are configured. */
  readonly channels: ReadonlySet<string>;
  /** Where the main session's replies go before a delivery or an operator gave it another route. */
  readonly firstRoute: ReplyTarget | null;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly probes: readonly Probe[];
  /** True once the process was told to stop: it finishes what it has and wants no more. */
  readonly isStopping: () => boolean;
}
