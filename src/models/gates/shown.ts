import { decided, escapeMarkdown, moment, quote, strong } from "../../shared/notifications/phrases.ts";
import type { Action } from "../../wire/gate.ts";
import type { GateDoc } from "./gate.ts";
import { formOf } from "./question.ts";

const MARKS: Readonly<Record<Action, string>> = { accept: "✅", decline: "❌", cancel: "🚫" };

/** Returns the version of a gate that a message shows, as it is stored. That of a deleted gate is its own. */
export const shownVersion = (gate: Pick<GateDoc, "status" | "revision"> | null): string =>
  gate ? `${gate.status} ${gate.revision}` : "deleted";

/** Returns whether accepting a gate needs values that only its form asks for. */
export const needsForm = ({ requestedSchema }: Pick<GateDoc, "requestedSchema">): boolean =>
  (formOf(requestedSchema)?.required ?? []).length > 0;

/** Returns the end of a closed gate, as a plain sentence. */
export function closedSentence(gate: GateDoc | null): string {
  if (gate?.status === "answered") return `The question was already ${decided(gate.action)} by ${gate.answeredBy}.`;
  return `The question ${gate?.status === "expired" ? "has expired" : "was withdrawn"}.`;
}

/** Returns the paragraph that a message gets once its gate has closed, in Markdown. */
export function closedParagraph(gate: GateDoc | null): string {
  if (gate?.status === "answered") {
    const at = gate.answeredAt ? `, ${moment(gate.answeredAt.toISOString())}` : "";
    const by = escapeMarkdown(gate.answeredBy ?? "");
    return `${MARKS[gate.action ?? "cancel"]} **${capitalized(decided(gate.action))}** by ${by}${at}.`;
  }
  if (gate?.status === "expired") return `⌛ **Expired**: it counts as ${decided(gate.action)}.`;
  return "🚫 **Withdrawn**: it needs no answer any more.";
}

const capitalized = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);

/** Returns the text of a message whose question has changed, in Markdown. */
export const changedText = ({ title, message }: GateDoc): string =>
  [`The question has changed: ${strong(title)}`, ...quote(message)].join("\n\n");
