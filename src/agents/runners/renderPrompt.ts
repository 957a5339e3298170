import { breakRoleHeadings } from "../prompt/defuse.ts";
import { randomMarkerId } from "../prompt/fence.ts";
import type { AgentMessage } from "../runner.ts";

const TITLES = { system: "System", user: "User", assistant: "Assistant" } as const;

/**
 * The messages as one text, for a program. A user's message alone stands without a heading; several stand in their order,
 * each under a heading that says whose it is and carries an id made for this prompt, which no sender can guess. Lines of a
 * message that read as such a heading are broken, whoever wrote them.
 */
export function renderPrompt(messages: readonly AgentMessage[], randomId: () => string = randomMarkerId): string {
  const [first, second] = messages;
  if (first?.role === "user" && !second) return breakRoleHeadings(first.content);
  const id = randomId();
  return messages.map(({ role, content }) => `# ${TITLES[role]} ${id}\n\n${breakRoleHeadings(content)}\n`).join("\n");
}
