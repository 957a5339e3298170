import type { Dialect } from "./style.ts";

/** An invisible character that ends a name. */
export const ZERO_WIDTH_SPACE = "\u200b";

/** An underscore belongs to a name only if letters or digits follow; otherwise it may be markup around the word. */
const EVERYBODY_MENTION = /@(?=(?:all|channel|everyone|here)(?!_*[a-z0-9]))/gi;
const SLACK_TOKEN = /<(?=[!@#])/g;

/**
 * Keeps a model's text from notifying people: inserts a zero-width space after the sign that begins a mention. For Mattermost
 * (and Teams, where it does no harm) that is the `@` of `@all`, `@channel`, `@everyone` and `@here`, also in code, since the
 * server's own parser decides what is code. For Slack it is also the `<` of `<!channel>`, `<@U…>` and the like. Messages to
 * Discord disable mentions with `allowed_mentions`; the other services have no such mentions.
 */
export function neutralizeMentions(text: string, dialect: Dialect): string {
  if (dialect !== "markdown" && dialect !== "slack") return text;
  const neutralized = text.replace(EVERYBODY_MENTION, `@${ZERO_WIDTH_SPACE}`);
  return dialect === "slack" ? neutralized.replace(SLACK_TOKEN, `<${ZERO_WIDTH_SPACE}`) : neutralized;
}
