/** Further characters that a reply may have besides the acknowledgement and still say nothing. */
const MAX_FURTHER_CHARS = 300;

// Markdown may escape the underscore. A longer word (`HEARTBEAT_OKAY`, `NOT_HEARTBEAT_OK`) is another one.
const WORD = "(?<![\\p{L}\\p{N}]_*)HEARTBEAT\\\\?_OK(?!_*[\\p{L}\\p{N}])";
/** Spaces, emphasis and punctuation around the word. */
const AROUND = "[^\\p{L}\\p{N}]{0,100}";
const AT_START = new RegExp(`^${AROUND}${WORD}${AROUND}`, "u");
const AT_END = new RegExp(`${WORD}${AROUND}$`, "u");

/**
 * Whether a reply is only the agent's `HEARTBEAT_OK`: alone, or at the start or end of at most 300 further characters.
 * Spaces, Markdown emphasis and punctuation around the word do not count.
 */
export function isAcknowledgement(reply: string): boolean {
  const text = reply.trim();
  return [AT_START, AT_END].some((pattern) => {
    const match = pattern.exec(text);
    return match !== null && [...text.replace(match[0], "").trim()].length <= MAX_FURTHER_CHARS;
  });
}

/** Whether a reply shows nothing: white space and invisible characters only. */
export function isEmpty(reply: string): boolean {
  return !/[^\s\p{Default_Ignorable_Code_Point}\p{Cf}\p{Cc}]/u.test(reply);
}
