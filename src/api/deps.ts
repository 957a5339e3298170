import type { ChatAccess } from "../config/channels/chatAccess.ts";
import type { Config } from "../config/config.ts";
import type { JobTokens } from "../models/jobs/tokens/jobTokens.ts";
import type { ReplyTarget } from "../models/sessions/session.ts";
import type { Stores } from "../models/stores.ts";
import type { Clock } from "../shared/clock.ts";
import type { Logger } from "../shared/logger.ts";
import type { Queues } from "../shared/queue/producer.ts";
import type { SnsClient } from "./auth/snsClient.ts";
import type { RefusedRequests } from "./inbox/refusedRequests.ts";
import type { LiveFeed } from "./live/liveFeed.ts";
import type { RunFeed } from "./live/runFeed.ts";
import type { WaitingRequests } from "./live/waitingRequests.ts";
import type { Metrics } from "./metrics/metrics.ts";
import type { AnswerBudget } from "./middleware/answerBudget.ts";
import type { ServerFacts } from "./servers.ts";

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
  readonly jobTokens: JobTokens;
  /** The live events of jobs and lists. */
  readonly live: LiveFeed;
  /** The live events of the turns of agent runs. */
  readonly runFeed: RunFeed;
  /** Limits the memory of large responses. */
  readonly answers: AnswerBudget;
  /** The requests with `Prefer: wait` that this process holds. */
  readonly waiting: WaitingRequests;
  /** Collects the requests to hooks that are refused. */
  readonly refusedRequests: RefusedRequests;
  /** Fetches certificates of Amazon SNS, and confirms subscriptions. */
  readonly sns: SnsClient;
  readonly hooks: Config["hooks"];
  readonly agents: Config["agents"];
  readonly notify: Config["notify"];
  readonly expect: Config["expect"];
  /** `jobs.deleteAll`: whether jobs can be deleted without a filter. */
  readonly deleteAll: Config["jobs"]["deleteAll"];
  /** The names of the configured channels. */
  readonly channels: ReadonlySet<string>;
  /** Decides who may act through a channel. */
  readonly access: ChatAccess;
  /** The settings of the channels whose services send what people do. */
  readonly chats: Pick<Config["channels"], "slack" | "discord" | "telegram">;
  /** Maximum time that a request waits for a worker to check a channel. */
  readonly channelCheckMs: number;
  /** The reply target of the main session until a delivery or an operator sets another one. */
  readonly initialReplyTarget: ReplyTarget | null;
  /** `outbound.allowedHosts`; undefined without `outbound`, so that no `callbackUrl` is accepted. */
  readonly callbackHosts: readonly string[] | undefined;
  /** `agents.returns.maxDepth`. */
  readonly maxReturns: number;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly probes: readonly Probe[];
  /** The configuration in force, without secrets. */
  readonly shownConfig: unknown;
  /** `server.publicUrl`, for links to pages. */
  readonly publicUrl: string | undefined;
  /** `server.basePath`; empty at the root of a host. */
  readonly basePath: string;
  /** The address of the hooks: a path unless `server.publicUrl` is set. */
  readonly hooksUrl: string;
  /** Reads facts about MongoDB, Redis and the workers. Never rejects. */
  readonly readServers: () => Promise<ServerFacts>;
  /** Returns true once the process is shutting down: it finishes its requests and should receive no more. */
  readonly isStopping: () => boolean;
}
