import { telegramUpdates } from "../../channels/telegram/updates.ts";
import type { Channels } from "../../config/channels.ts";
import type { Timings } from "../../shared/timings.ts";
import { startPeriodic } from "../periodic.ts";
import type { ChatDeps } from "./chatDeps.ts";
import { pollUpdates } from "./pollUpdates.ts";
import { showQuestions } from "./showQuestions.ts";

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
