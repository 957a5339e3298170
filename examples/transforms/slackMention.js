/**
 * @typedef {object} Envelope What is read of it: https://docs.slack.dev/reference/events/app_mention
 * @property {{ type: string, bot_id?: string }} [event]
 */

/**
 * Lets through what people say to the app. What bots say is dropped, its own replies too: one that repeats a mention would
 * call it again, and again.
 * @type {import("signalbox/transform").Transform<Envelope>}
 */
const slackMention = ({ payload: { event } }) =>
  event?.type === "app_mention" && event.bot_id === undefined ? undefined : null;

export default slackMention;
