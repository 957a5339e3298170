import type { AgentMessage } from "../runner.ts";

const HEADINGS = { system: "# System", user: "# User", assistant: "# Assistant" } as const;

/**
 * The messages as one text, for a program. A user's message alone is given as it is; several stand in their order, each
 * under a heading that says whose it is.
 */
export function renderPrompt(messages: readonly AgentMessage[]): string {
  const [first, second] = messages;
  if (first?.role === "user" && !second) return first.content;
  return messages.map(({ role, content }) => `${HEADINGS[role]}\n\n${content}\n`).join("\n");
}
