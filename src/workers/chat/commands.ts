import { assignSessionAgent, findSessionAgent } from "../../models/intake/sessionAgents.ts";
import { assignSessionOwner } from "../../models/intake/sessionOwners.ts";
import { cancelRun } from "../../models/runs/cancel.ts";
import { AppError } from "../../shared/errors.ts";
import { escapeMarkdown, moment } from "../../shared/notifications/phrases.ts";
import { agentHook } from "../../shared/queue/definitions.ts";
import { MAIN_SESSION } from "../../shared/sessionKey.ts";
import { enqueueDelivery } from "../deliveries/enqueueDelivery.ts";
import type { ChatDeps, ReceivedMessage } from "./chatDeps.ts";

const COMMAND = /^[/!](stop|new|status)(?:@\w+)?$/i;
/** Maximum waiting runs that a status counts. */
const MAX_COUNTED = 100;

type Command = "stop" | "new" | "status";

/** Reads a command: `/stop`, `/new` or `/status`, or the same with `!`, because Slack's client keeps slash words to itself. */
export const readCommand = (text: string): Command | undefined =>
  COMMAND.exec(text.trim())?.[1]?.toLowerCase() as Command | undefined;

/** Carries out a command about a session, and answers in the thread of the message. @throws AppError unavailable */
export async function carryOut(
  deps: ChatDeps,
  message: ReceivedMessage,
  { command, sessionKey }: { readonly command: Command; readonly sessionKey: string },
): Promise<void> {
  const { stores } = deps;
  const { id, channel, to } = message;
  const fresh = command === "new" ? `chat:${channel}:${id}` : undefined;
  const text = await ACTS[command](deps, sessionKey);
  if (fresh !== undefined) {
    await assignSessionOwner(stores, fresh, `chat ${channel}`);
    const agentId = await findSessionAgent(stores, sessionKey);
    if (agentId) await assignSessionAgent(stores, fresh, agentId);
  }
  const key = fresh ?? sessionKey;
  const reply = { _id: `chat-${id}`, runId: null, channel, to, text, fault: null };
  const ofSession = {
    ...(key !== MAIN_SESSION && { sessionKey: key }),
    ...(fresh !== undefined && { replaces: sessionKey }),
  };
  await stores.deliveries.add({ ...reply, ...ofSession });
  await enqueueDelivery(deps, { deliveryId: reply._id, channel, fault: null });
}

const ACTS: Readonly<Record<Command, (deps: ChatDeps, sessionKey: string) => Promise<string>>> = {
  new: async () => "A new session begins. Answer this message to write to it.",
  async stop({ stores, queues }, sessionKey) {
    const running = await findRunning(stores, sessionKey);
    if (!running) return "Nothing is running.";
    try {
      const runId = await cancelRun(stores, running._id);
      if (runId !== null) await queues.add(agentHook, { runId }, { jobId: `${runId}-cancelled` });
      return "Stopped.";
    } catch (error) {
      if (error instanceof AppError && error.code === "run_state_conflict") return "It has just ended.";
      throw error;
    }
  },
  async status({ stores }, sessionKey) {
    const running = await findRunning(stores, sessionKey);
    const queued = { open: true, sessionKey, status: "queued" as const };
    const waiting = await stores.runs.collection.countDocuments(queued, { limit: MAX_COUNTED });
    const since = running?.startedAt ? ` since ${moment(running.startedAt.toISOString())}` : "";
    const now = running?.status === "waiting" ? " waits for an answer about its budget" : ` is running${since}`;
    const first = running ? `${escapeMarkdown(running.name ?? "A run")}${now}.` : "Nothing is running.";
    return waiting === 0 ? first : `${first} ${waiting === 1 ? "1 run waits" : `${waiting} runs wait`}.`;
  },
};

const findRunning = ({ runs }: ChatDeps["stores"], sessionKey: string) =>
  runs.collection.findOne(
    { open: true, sessionKey, status: { $in: ["running", "waiting"] } },
    { projection: { name: 1, status: 1, startedAt: 1 }, sort: { order: 1 } },
  );
