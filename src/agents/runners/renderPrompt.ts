import { randomMarkerId } from "../prompt/fence.ts";
import { breakRoleHeadings } from "../prompt/neutralize.ts";
import type { AgentMessage } from "./runner.ts";

const HEADINGS = { system: "# System", user: "# User", assistant: "# Assistant" } as const;

/**
 * Renders the messages as one text for a program. A single user message has no heading. Several messages follow in order,
 * each below a line with an id and a heading with its role. The id is new for each prompt, so no sender can guess it, and
 * only a heading below such a line begins a message. Lines that read as the heading of a role are still broken up, in
 * messages of every role.
 */
export function renderPrompt(messages: readonly AgentMessage[], randomId: () => string = randomMarkerId): string {
  const [first, second] = messages;
  if (first?.role === "user" && !second) return breakRoleHeadings(first.content);
  const line = `--- ${randomId()} ---`;
  return messages
    .map(({ role, content }) => `${line}\n${HEADINGS[role]}\n\n${breakRoleHeadings(content)}\n`)
    .join("\n");
}
