import { breakRoleHeadings } from "../prompt/defuse.ts";
import { randomMarkerId } from "../prompt/fence.ts";
import type { AgentMessage } from "./runner.ts";

const HEADINGS = { system: "# System", user: "# User", assistant: "# Assistant" } as const;

/**
 * Renders the messages as one text, for a program. A user's message alone stands without a heading; several stand in their
 * order, each below a line with an id and a heading that says whose it is. The id is made for this prompt, so no sender can
 * guess it: only a heading below such a line begins a message. Lines of a message that read as a heading of a role are
 * broken all the same, whoever wrote them.
 */
export function renderPrompt(messages: readonly AgentMessage[], randomId: () => string = randomMarkerId): string {
  const [first, second] = messages;
  if (first?.role === "user" && !second) return breakRoleHeadings(first.content);
  const line = `--- ${randomId()} ---`;
  return messages
    .map(({ role, content }) => `${line}\n${HEADINGS[role]}\n\n${breakRoleHeadings(content)}\n`)
    .join("\n");
}
