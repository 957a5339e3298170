/** Further characters that a reply may have besides the acknowledgement and still say nothing. */
const MAX_FURTHER_CHARS = 300;

// On one side of the word stand signs alone. Markdown may escape its underscore. A longer word (`HEARTBEAT_OKAY`,
// `NOT_HEARTBEAT_OK`) is another one.
const AT_START = /^([^\p{L}\p{N}]*)HEARTBEAT\\?_OK(?!_*[\p{L}\p{N}])(.*)$/su;
const AT_END = /^(.*)(?<![\p{L}\p{N}]_*)HEARTBEAT\\?_OK([^\p{L}\p{N}]*)$/su;
/** What Markdown and layout put around a word. */
const MARK = /[\s*_~`#>]/;

/**
 * Whether a reply is only the agent's `HEARTBEAT_OK`: alone, or at the start or end of at most 300 further characters. White
 * space and Markdown's marks directly around the word do not count; punctuation and emoji do, and may stand there too.
 */
export function isAcknowledgement(reply: string): boolean {
  const text = reply.trim();
  return [AT_START, AT_END].some((pattern) => {
    const match = pattern.exec(text);
    if (!match) return false;
    const [, before = "", behind = ""] = match;
    return further([...before]) + further([...behind].reverse()) <= MAX_FURTHER_CHARS;
  });
}

/** How many characters stand before the marks in which they end. */
const further = (chars: readonly string[]): number => chars.findLastIndex((char) => !MARK.test(char)) + 1;
