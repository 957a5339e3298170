import type { AgentRequest } from "./run.ts";
import type { RunStores } from "./runStores.ts";

/** The settings that the runs of a session share. */
export type SessionSettings = Pick<AgentRequest, "agentId" | "model" | "thinking" | "timeoutSeconds" | "trackAsJob">;

/**
 * Returns the settings of a session's newest run, for a run that continues the session without a request of its own.
 * @param defaults those of a session whose runs are no longer stored
 * @returns them, and whether that run has the session for itself
 */
export async function settingsOfSession(
  { runs }: Pick<RunStores, "runs">,
  sessionKey: string,
  defaults: SessionSettings,
): Promise<{ readonly settings: SessionSettings; readonly singleUse: boolean }> {
  const fields = ["agentId", "model", "thinking", "timeoutSeconds", "trackAsJob"].map((field) => [
    `request.${field}`,
    1,
  ]);
  const newest = await runs.collection.findOne(
    { sessionKey, request: { $ne: null } },
    { projection: { singleUse: 1, ...Object.fromEntries(fields) }, sort: { createdAt: -1, _id: -1 } },
  );
  const { agentId, model, thinking, timeoutSeconds, trackAsJob } = newest?.request ?? defaults;
  const agent = agentId !== undefined && { agentId };
  return { settings: { ...agent, model, thinking, timeoutSeconds, trackAsJob }, singleUse: newest?.singleUse ?? false };
}
