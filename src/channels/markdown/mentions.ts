import type { Dialect } from "./style.ts";

/** Not to be seen, and no part of a name. */
export const ZERO_WIDTH_SPACE = "\u200b";

/** An underline is part of a name only where the name goes on behind it: it may be a mark around the word. */
const EVERYBODY_MENTION = /@(?=(?:all|channel|everyone|here)(?!_*[a-z0-9]))/gi;
const SLACK_TOKEN = /<(?=[!@#])/g;

/**
 * Keeps what a model wrote from calling people: with a zero-width space behind it, the sign names nobody. In Mattermost (and
 * Teams, where it does no harm) that is `@all`, `@channel` and `@here`, in code too, as what counts is what the server takes
 * for code. In Slack it is `<!channel>`, `<@U…>` and their like as well. Discord is told with each message to call nobody
 * (`allowed_mentions`), the other services have no such words.
 */
export function neutralizeMentions(text: string, dialect: Dialect): string {
  if (dialect !== "markdown" && dialect !== "slack") return text;
  const neutralized = text.replace(EVERYBODY_MENTION, `@${ZERO_WIDTH_SPACE}`);
  return dialect === "slack" ? neutralized.replace(SLACK_TOKEN, `<${ZERO_WIDTH_SPACE}`) : neutralized;
}
