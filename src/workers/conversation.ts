import type { AgentMessage } from "../agents/runner.ts";
import type { MessageDoc } from "../models/message.ts";

/** What an agent is shown: the operator's system prompt, if any, the conversation so far, and what it is told now. */
export function conversation(
  systemPrompt: string | undefined,
  history: readonly Pick<MessageDoc, "role" | "content">[],
  told: string,
): AgentMessage[] {
  return [
    ...(systemPrompt === undefined ? [] : [{ role: "system" as const, content: systemPrompt }]),
    ...history.map(({ role, content }) => ({ role, content })),
    { role: "user" as const, content: told },
  ];
}
