/**
 * @typedef {object} Envelope The fields that are used: https://docs.slack.dev/reference/events/app_mention
 * @property {{ type: string, bot_id?: string }} [event]
 */

/**
 * Passes people's mentions of the app to the agent. Drops messages of bots, including its own replies: a reply that
 * repeats a mention would trigger it again and again.
 * @type {import("signalbox/transform").Transform<Envelope>}
 */
const slackMention = ({ payload: { event } }) =>
  event?.type === "app_mention" && event.bot_id === undefined ? undefined : null;

export default slackMention;
