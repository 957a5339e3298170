import { openInbound } from "../../channels/openInbound.ts";
import type { Channels } from "../../config/channels/channels.ts";
import type { Timings } from "../../shared/timings.ts";
import { startPeriodic } from "../periodic.ts";
import type { ChatDeps } from "./chatDeps.ts";
import { receiveActs } from "./receiveActs.ts";
import { showQuestions } from "./showQuestions.ts";

interface StartDeps extends ChatDeps {
  readonly timings: Timings;
  readonly settings: Channels;
  /** The public address of the hooks; undefined without `server.publicUrl`. */
  readonly hooksUrl: string | undefined;
}

/** Starts what a worker does for people in chats besides the queue. Does nothing if no channel takes their answers. */
export function startChat(deps: StartDeps): { close(): Promise<void> } {
  const { stores, queues, channels, access, timings, settings, hooksUrl } = deps;
  if (![...channels.keys()].some((name) => access.takesAnswers(name))) return { close: async () => {} };
  const handleLeft = async () => {
    if ((await stores.chatUpdates.listDue(1)).length > 0) queues.triggerChat();
  };
  const parts = [(_: StartDeps, lost: AbortSignal) => showQuestions(deps, lost), handleLeft];
  const sources = openInbound(settings, { hooksUrl, timings: timings.chat });
  const tasks = [
    // A pass takes at most a fifth of the time, however many questions are open.
    startPeriodic("messages of questions", { everyMs: timings.chat.showMs, pauseFactor: 4 }, parts, deps),
    ...[...sources].map(([channel, source]) => receiveActs({ ...deps, channel, source })),
  ];
  return {
    async close() {
      await Promise.all(tasks.map((task) => task.close()));
    },
  };
}
