import type { OpenUpdate } from "../../models/chat/chatUpdates.ts";
import { AppError } from "../../shared/errors.ts";
import type { Processor } from "../runWorkers.ts";
import type { ChatDeps } from "./chatDeps.ts";
import { takeMessage } from "./message.ts";
import { answerPress } from "./press.ts";

/** Maximum updates that are read at a time. */
const PAGE = 100;
/** Maximum conversations whose updates are handled at the same time. */
const CONCURRENCY = 10;

/**
 * Handles the acts of people in chats, those of one conversation in their order. One that fails delays no other: it is tried
 * again later, and set aside after the last try.
 * @returns the number of handled updates
 * @throws AppError unavailable
 */
async function handleUpdates(deps: ChatDeps, signal: AbortSignal): Promise<number> {
  for (let total = 0; ; ) {
    const page = await deps.stores.chatUpdates.listDue(PAGE);
    const conversations = [...Map.groupBy(page, conversationOf).values()];
    for (let i = 0; i < conversations.length; i += CONCURRENCY) {
      if (signal.aborted) return total;
      await Promise.all(
        conversations.slice(i, i + CONCURRENCY).map(async (updates) => {
          for (const update of updates) await handleOrCount(deps, update, signal);
        }),
      );
    }
    total += page.length;
    if (page.length < PAGE) return total;
  }
}

const conversationOf = ({ channel, event }: OpenUpdate): string =>
  `${channel} ${event.kind === "press" ? event.button : event.to}`;

async function handleOrCount(deps: ChatDeps, update: OpenUpdate, signal: AbortSignal): Promise<void> {
  const { stores, log, retryMs } = deps;
  const { _id, channel, tries } = update;
  try {
    if (await handle(deps, update, signal)) return await stores.chatUpdates.end(_id);
    await stores.chatUpdates.countFailure(update, retryMs * 2 ** tries);
  } catch (error) {
    if (error instanceof AppError && error.code === "unavailable") throw error;
    const isLast = await stores.chatUpdates.countFailure(update, retryMs * 2 ** tries);
    const next = isLast ? "set aside" : "tried again";
    log.error({ channel, err: error }, `an act in a chat could not be handled; it is ${next}`);
  }
}

/** Returns false if the person could not be answered, because the service cannot be reached. */
async function handle(
  deps: ChatDeps,
  { _id, channel: name, event }: OpenUpdate,
  signal: AbortSignal,
): Promise<boolean> {
  if (event.kind === "message") {
    const id = await deps.stores.idempotencyKeys.deriveId(`chat ${_id}`);
    await takeMessage(deps, { ...event, channel: name, id });
    return true;
  }
  const text = await answerPress(deps, name, event, signal);
  return (await deps.channels.get(name)?.answerPress?.({ reply: event.reply, text }, signal)) ?? true;
}

/** Returns the processor that handles the acts of people in chats. The pass over the questions triggers it again if it fails. */
export function chatProcessor(deps: ChatDeps): Processor {
  return async (_, { signal }) => {
    const updates = await handleUpdates(deps, signal);
    return { kind: "done", result: { updates }, isIdle: updates === 0 };
  };
}
