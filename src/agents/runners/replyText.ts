import { isVisible } from "../../shared/text/text.ts";

/**
 * Returns the text of a message's content, which servers give as a string or as a list of parts. Parts without text, such as
 * a model's reasoning, are left out.
 */
export function contentText(content: unknown): string {
  if (typeof content === "string") return content;
  if (Array.isArray(content)) return content.map(contentText).join("");
  const { type = "text", text } = (content ?? {}) as { type?: unknown; text?: unknown };
  return (type === "text" || type === "output_text") && typeof text === "string" ? text : "";
}

/** Matches the thoughts with which some servers begin a reply. */
const THOUGHTS = /^\s*<(think|thinking|thought|reasoning)>.*?<\/\1>\s*/is;

/** Matches thoughts that do not end. */
const UNFINISHED_THOUGHTS = /^\s*<(?:think|thinking|thought|reasoning)>/i;

/** Matches each tag of thoughts. */
const TAG = /<(\/?)(?:think|thinking|thought|reasoning)>/gi;

/**
 * Returns a reply without the thoughts at its beginning, which are not for the reader. A tag at any other place, such as in
 * code, is part of the answer.
 * @param isCutOff whether the reply ended at a limit, so that thoughts without an end are all that there is of it
 */
export function withoutThoughts(reply: string, isCutOff = false): string {
  const answer = withoutFirstThoughts(reply);
  if (isCutOff && UNFINISHED_THOUGHTS.test(answer)) return "";
  return answer === reply ? withoutUnopenedThoughts(reply) : answer;
}

/** Returns a reply without the complete thoughts at its beginning. */
export function withoutFirstThoughts(reply: string): string {
  let answer = reply;
  for (let found = THOUGHTS.exec(answer); found; found = THOUGHTS.exec(answer)) answer = answer.slice(found[0].length);
  return answer;
}

/**
 * Removes thoughts whose opening tag is missing, because it belongs to the prompt: servers without a parser for reasoning
 * return only what the model wrote after it. The closing tag must be the only tag of the reply, and stand alone on its line
 * or end the first paragraph; a reply that mentions the tag is thus kept.
 */
function withoutUnopenedThoughts(reply: string): string {
  const [tag, ...others] = reply.matchAll(TAG);
  if (!tag?.[1] || others.length > 0) return reply;
  const before = reply.slice(0, tag.index);
  const after = reply.slice(tag.index + tag[0].length);
  const isClosing = standsAlone(before, after) || endsFirstParagraph(before, after);
  return isClosing && !isCodeOpen(before) && isVisible(after) ? after.trimStart() : reply;
}

/** Returns whether the tag between the texts is alone on its line and not announced by a colon. */
const standsAlone = (before: string, after: string): boolean =>
  /(?:^|\n)$/.test(before) && /^[ \t]*\r?\n/.test(after) && !before.trimEnd().endsWith(":");

/** Returns whether the tag directly follows the last sign of the first paragraph. A space or a quote before it means prose. */
const endsFirstParagraph = (before: string, after: string): boolean =>
  /^[ \t]*\r?\n[ \t]*\r?\n/.test(after) && /[^\s`'"“‘«([<]$/.test(before) && !/\n[ \t\r]*\n/.test(before.trimStart());

/** Returns whether a code block has begun and not ended. */
const isCodeOpen = (text: string): boolean => (text.match(/^ {0,3}(?:```|~~~)/gm)?.length ?? 0) % 2 === 1;
