import { neutralize } from "../../agents/prompt/neutralize.ts";
import type { AgentMessage } from "../../agents/runners/runner.ts";
import type { MessageDoc } from "../../models/sessions/message.ts";

/**
 * Returns the messages of a turn: the operator's system prompt, if any, the conversation so far, and the new prompt. Earlier
 * replies are neutralized too, because a sender can make a model repeat markers that are neutralized in the sender's own text.
 */
export function turnMessages(
  systemPrompt: string | undefined,
  history: readonly Pick<MessageDoc, "role" | "content">[],
  prompt: string,
): AgentMessage[] {
  return [
    ...(systemPrompt === undefined ? [] : [{ role: "system" as const, content: systemPrompt }]),
    ...history.map(({ role, content }) => ({ role, content: role === "assistant" ? neutralize(content) : content })),
    { role: "user" as const, content: prompt },
  ];
}
