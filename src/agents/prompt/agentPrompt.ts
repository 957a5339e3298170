import { fence, randomMarkerId } from "./fence.ts";

interface AgentMessage {
  readonly message: string;
  /** The origin of the message for the notice: the mapping's or the sender's name. Not trusted. */
  readonly source: string;
  /** The operator's instructions, trusted. */
  readonly instructions?: string | undefined;
  /** Whether the operator trusts the content. It then goes into the prompt unchanged. */
  readonly allowUnsafe: boolean;
}

/** Returns the prompt of a run: the operator's instructions unchanged, if there are any, then the fenced message. */
export function agentPrompt(
  { message, source, instructions, allowUnsafe }: AgentMessage,
  randomId: () => string = randomMarkerId,
): string {
  const body = allowUnsafe ? message : fence(message, source, randomId);
  return instructions?.trim() ? `${instructions}\n\n${body}` : body;
}
