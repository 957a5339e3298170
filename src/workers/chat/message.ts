import { agentSettings } from "../../config/agents/agents.ts";
import { mappedRuns } from "../../hooks/mappings/mappedRuns.ts";
import { findThreadSession } from "../../models/deliveries/threads.ts";
import { acceptMappedRuns } from "../../models/intake/acceptHook.ts";
import { assignSessionAgent } from "../../models/intake/sessionAgents.ts";
import { settingsOfSession } from "../../models/runs/sessionSettings.ts";
import { trackAccepted } from "../../models/runs/trackRun.ts";
import { agentHook, mappedHook } from "../../shared/queue/definitions.ts";
import { MAIN_SESSION } from "../../shared/sessionKey.ts";
import { sanitizeText } from "../../shared/text/sanitizeText.ts";
import { chatName } from "../../shared/text/visibleName.ts";
import type { ChatDeps, ReceivedMessage } from "./chatDeps.ts";
import { carryOut, readCommand } from "./commands.ts";

/**
 * Continues the session that a message answers: by a run whose reply goes to the same thread, or by a command. A message that
 * answers no reply goes to the inbox of its channel, or nowhere.
 * @throws AppError unavailable
 */
export async function takeMessage(deps: ChatDeps, message: ReceivedMessage): Promise<void> {
  const { stores, access, clock } = deps;
  const { channel, person, answers: refs } = message;
  // The configuration may have changed since the message was stored.
  if (!access.mayAct(channel, person.id)) return;
  const inbox = access.inboxOf(channel);
  const sessionKey = (await findThreadSession(stores, { channel, refs, now: clock.now() })) ?? inbox?.sessionKey;
  const command = readCommand(message.text);
  if (sessionKey !== undefined && command) return carryOut(deps, message, { command, sessionKey });
  if (sessionKey === MAIN_SESSION) return wakeMain(deps, message);
  if (sessionKey !== undefined) return startRun(deps, message, sessionKey);
  if (inbox?.mapping !== undefined) return applyMapping(deps, message, inbox.mapping);
}

async function startRun(deps: ChatDeps, message: ReceivedMessage, sessionKey: string): Promise<void> {
  const { stores, access, queues, agents } = deps;
  const { id: _id, channel, person, to, isForwarded, text } = message;
  const hasAgents = Object.keys(agents.list).length > 0;
  const owner = hasAgents ? await assignSessionAgent(stores, sessionKey, access.inboxOf(channel)?.agentId) : null;
  const { timeoutSeconds, trackAsJob } = agentSettings(agents, owner) ?? agents.defaults;
  const agent = owner !== null && { agentId: owner };
  const defaults = { ...agent, model: null, thinking: null, timeoutSeconds, trackAsJob };
  const { settings } = await settingsOfSession(stores, sessionKey, defaults);
  const isTrusted = access.isOwner(channel, person.id) && !isForwarded;
  const target = { wakeMode: "next-heartbeat" as const, deliver: true, channel, to };
  const request = { message: sanitizeText(text), ...target, ...settings, ...(isTrusted && { allowUnsafe: true }) };
  // A session that a person continues is no longer that of a single run, whose transcript is deleted earlier.
  const session = { sessionKey, singleUse: false };
  const run = { _id, kind: "agent" as const, name: chatName(channel, person), ...session, mapped: null, request };
  await stores.runs.accept([run]);
  await trackAccepted(stores, run);
  await queues.add(agentHook, { runId: _id }, { jobId: _id });
}

/** Sends the main session the text of a person. Its reply goes where its replies go. */
async function wakeMain({ stores, queues }: ChatDeps, { id, channel, person, text }: ReceivedMessage): Promise<void> {
  const source = chatName(channel, person);
  await stores.mainEvents.add([{ _id: `chat-${id}`, text: sanitizeText(text), source, wake: true }]);
  await queues.triggerHeartbeat();
}

/** Applies a mapping to a message, as if it were a request. */
async function applyMapping(deps: ChatDeps, message: ReceivedMessage, key: string): Promise<void> {
  const { stores, hooks, mappings, queues, clock } = deps;
  const mapping = mappings.find((one) => one.key === key);
  if (!mapping) throw new Error("the mapping of an inbox is missing"); // the configuration was checked
  const { id, channel, person, to, text } = message;
  const payload = { source: channel, to, text: sanitizeText(text), person: { id: person.id, name: person.name } };
  const call = { headers: {}, url: `${hooks.path}/${channel}`, path: channel, query: {}, payload };
  const { runs, shared } = mappedRuns(mapping, call, hooks, clock.now());
  const [first, ...more] = runs.map((run, i) => (i === 0 ? { ...run, runId: id } : run));
  if (!first) return;
  const { runIds } = await acceptMappedRuns(stores, { runs: [first, ...more], shared, kept: null });
  await Promise.all(runIds.map((runId) => queues.add(mappedHook, { runId }, { jobId: runId })));
}
