import { isVisible } from "../../shared/text/text.ts";

/** Maximum characters beside the acknowledgement; a longer reply is a message to the user. */
const MAX_OTHER_CHARS = 300;

// At least one side of the word has only signs. Markdown may escape the word's underscore. A longer word
// (`HEARTBEAT_OKAY`, `NOT_HEARTBEAT_OK`) is no acknowledgement.
const AT_START = /^([^\p{L}\p{N}]*)HEARTBEAT\\?_OK(?!_*[\p{L}\p{N}])(.*)$/su;
const AT_END = /^(.*)(?<![\p{L}\p{N}]_*)HEARTBEAT\\?_OK([^\p{L}\p{N}]*)$/su;
/** White space, and the marks that Markdown puts around a word. */
const MARK = /[\s*_~`#>]/;

/**
 * Returns whether a reply is only the agent's `HEARTBEAT_OK`: alone, or at the start or end of at most 300 other characters.
 * White space and Markdown's marks directly around the word do not count. Punctuation and emoji are allowed and count.
 */
export function isAcknowledgement(reply: string): boolean {
  const text = reply.trim();
  return [AT_START, AT_END].some((pattern) => {
    const match = pattern.exec(text);
    if (!match) return false;
    const [, before = "", after = ""] = match;
    return lengthWithoutMarks([...before]) + lengthWithoutMarks([...after].reverse()) <= MAX_OTHER_CHARS;
  });
}

/** Returns the number of characters without the marks at the end. */
const lengthWithoutMarks = (chars: readonly string[]): number => chars.findLastIndex((char) => !MARK.test(char)) + 1;

/** Returns whether a reply is worth delivering: not empty, and more than an acknowledgement. */
export const isWorthDelivering = (reply: string): boolean => isVisible(reply) && !isAcknowledgement(reply);
