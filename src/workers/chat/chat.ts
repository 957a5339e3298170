import type { Channel } from "../../channels/channel.ts";
import { telegramUpdates } from "../../channels/telegram/updates.ts";
import type { Channels } from "../../config/channels.ts";
import type { ChatAccess } from "../../config/chatAccess.ts";
import type { Config } from "../../config/config.ts";
import type { Mapping } from "../../hooks/mappings/mapping.ts";
import type { Stores } from "../../models/stores.ts";
import type { Clock } from "../../shared/clock.ts";
import type { Logger } from "../../shared/logger.ts";
import type { Queues } from "../../shared/queue/producer.ts";
import type { Timings } from "../../shared/timings.ts";
import type { WorkerMetrics } from "../metrics.ts";
import { startPeriodic } from "../periodic.ts";
import type { OncePerKey } from "./oncePerKey.ts";
import { pollUpdates } from "./pollUpdates.ts";
import { showQuestions } from "./showQuestions.ts";

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
  /** The settings of a session whose runs are no longer stored. */
  readonly agent: Pick<Config["agents"]["defaults"], "timeoutSeconds" | "trackAsJob">;
  /** Limits the entries of the audit log about refused presses: one a person and question. */
  readonly audited: OncePerKey;
}

interface StartDeps extends ChatDeps {
  readonly timings: Timings;
  readonly settings: Channels;
}

/** Starts what a worker does for people in chats besides the queue. Does nothing if no channel takes their answers. */
export function startChat(deps: StartDeps): { close(): Promise<void> } {
  const { stores, queues, channels, access, timings, settings } = deps;
  if (![...channels.keys()].some((name) => access.takesAnswers(name))) return { close: async () => {} };
  const trigger = () => queues.triggerChat();
  const handleLeft = async () => {
    if ((await stores.chatUpdates.listDue(1)).length > 0) trigger();
  };
  const parts = [(_: StartDeps, lost: AbortSignal) => showQuestions(deps, lost), handleLeft];
  const { telegram } = settings;
  const tasks = [
    // A pass takes at most a fifth of the time, however many questions are open.
    startPeriodic("messages of questions", { everyMs: timings.chat.showMs, pauseFactor: 4 }, parts, deps),
    ...(telegram?.allowFrom
      ? [
          pollUpdates({
            ...deps,
            channel: "telegram",
            read: telegramUpdates(telegram, timings.chat.waitSeconds),
            trigger,
          }),
        ]
      : []),
  ];
  return {
    async close() {
      await Promise.all(tasks.map((task) => task.close()));
    },
  };
}
