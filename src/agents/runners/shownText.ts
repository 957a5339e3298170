import { withoutFirstThoughts } from "./replyText.ts";

const TAGS = ["<think>", "<thinking>", "<thought>", "<reasoning>"];

/**
 * Returns a function that passes the pieces of a reply on as they come, without the thoughts at its beginning. While the text
 * may begin with thoughts, it is held back until they have ended.
 */
export function withoutThoughtsAhead(onText: (text: string) => void): (piece: string) => void {
  let held: string | null = "";
  return (piece) => {
    if (held === null) return piece === "" ? undefined : onText(piece);
    held += piece;
    // Only a piece that can end thoughts is worth a search of the whole text.
    if (held.slice(-piece.length - "</reasoning>".length).includes("</")) held = withoutFirstThoughts(held);
    const begun = held.trimStart().slice(0, "<reasoning>".length).toLowerCase();
    if (TAGS.some((tag) => tag.startsWith(begun.slice(0, tag.length)))) return;
    onText(held.trimStart());
    held = null;
  };
}
