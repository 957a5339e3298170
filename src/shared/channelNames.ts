/** The channels to which replies can be sent. */
export const CHANNELS = [
  "whatsapp",
  "telegram",
  "discord",
  "slack",
  "mattermost",
  "signal",
  "imessage",
  "msteams",
  "ntfy",
  "email",
  "log",
] as const;

/** The channels whose messages can be edited, so that one message can follow a job. */
export const LIVE_CHANNELS = [
  "telegram",
  "slack",
  "discord",
  "mattermost",
  "ntfy",
] as const satisfies readonly (typeof CHANNELS)[number][];
