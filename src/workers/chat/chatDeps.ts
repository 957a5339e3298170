import type { Channel } from "../../channels/channel.ts";
import type { ChatAccess } from "../../config/channels/chatAccess.ts";
import type { Config } from "../../config/config.ts";
import type { Mapping } from "../../hooks/mappings/mapping.ts";
import type { Stores } from "../../models/stores.ts";
import type { ChatMessage } from "../../shared/chatEvent.ts";
import type { Clock } from "../../shared/clock.ts";
import type { Logger } from "../../shared/logger.ts";
import type { Queues } from "../../shared/queue/producer.ts";
import type { WorkerMetrics } from "../metrics.ts";
import type { OncePerKey } from "./oncePerKey.ts";

/** The dependencies of what a worker does for people in chats. */
export interface ChatDeps {
  readonly stores: Stores;
  readonly channels: ReadonlyMap<string, Channel>;
  readonly access: ChatAccess;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: WorkerMetrics;
  /** The pause before an act that could not be handled is tried again. It doubles with each failure. */
  readonly retryMs: number;
  readonly queues: Queues;
  readonly hooks: Config["hooks"];
  readonly mappings: readonly Mapping[];
  readonly agents: Config["agents"];
  /** Limits the entries of the audit log about refused presses: one a person and question. */
  readonly audited: OncePerKey;
}

/** A message with its channel and the id that follows from its update, so that it has its effect once. */
export interface ReceivedMessage extends ChatMessage {
  readonly channel: string;
  /** A UUID. */
  readonly id: string;
}
