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

/**
 * Returns a reply without the thoughts at its beginning, which are not for the reader. A tag at any other place, such as in
 * code, is part of the answer.
 * @param isCutOff whether the reply ended at a limit, so that thoughts without an end are all that there is of it
 */
export function withoutThoughts(reply: string, isCutOff = false): string {
  let answer = reply;
  for (let found = THOUGHTS.exec(answer); found; found = THOUGHTS.exec(answer)) answer = answer.slice(found[0].length);
  return isCutOff && UNFINISHED_THOUGHTS.test(answer) ? "" : answer;
}
