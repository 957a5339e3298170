/** The id or public name of a chat of Telegram; optionally with a topic. */
export const TELEGRAM_RECIPIENT = /^(-?\d{1,20}|@\w{1,64})(?::(\d{1,15}))?$/;

/** The id or `#name` of a channel of Slack, or the id of a user; optionally with a thread. */
export const SLACK_RECIPIENT = /^(#?[^\s:#]{1,80})(?::(\d{1,12}\.\d{1,12}))?$/;

/** The id of a channel, a thread or a user of Discord. Ids are snowflakes, which exceed the range of a JavaScript number. */
export const DISCORD_RECIPIENT = /^(user:)?(\d{5,20})$/;

const MATTERMOST_ID = "[a-z0-9]{26}";
/** The id of a channel of Mattermost, a user, or a channel of a team; optionally with a thread. */
export const MATTERMOST_RECIPIENT = new RegExp(
  `^(${MATTERMOST_ID}|user:${MATTERMOST_ID}|@\\w[\\w.-]*|[\\w-]+/[\\w-]+)(?::(${MATTERMOST_ID}))?$`,
);
