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
