import { fence, randomMarkerId } from "./fence.ts";

interface AgentMessage {
  readonly message: string;
  /** Where the message comes from, for the notice: the mapping's or the sender's name. Not trusted. */
  readonly source: string;
  /** The operator's own words, trusted. */
  readonly instructions?: string | undefined;
  /** The operator vouches for the content: it becomes the prompt as it is. */
  readonly allowUnsafe: boolean;
}

/** The prompt of a run: the operator's instructions, if any, word for word, then the message behind its fence. */
export function agentPrompt(
  { message, source, instructions, allowUnsafe }: AgentMessage,
  randomId: () => string = randomMarkerId,
): string {
  const body = allowUnsafe ? message : fence(message, source, randomId);
  return instructions?.trim() ? `${instructions}\n\n${body}` : body;
}
