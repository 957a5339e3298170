/** Where replies can go. */
export const CHANNELS = [
  "whatsapp",
  "telegram",
  "discord",
  "slack",
  "mattermost",
  "signal",
  "imessage",
  "msteams",
  "log",
] as const;
