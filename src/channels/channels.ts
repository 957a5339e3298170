import type { Config } from "../config/config.ts";
import type { Logger } from "../shared/logger.ts";
import type { Channel } from "./channel.ts";
import { discordChannel } from "./discord/channel.ts";
import { emailChannel } from "./email/channel.ts";
import { imessageChannel } from "./imessage/channel.ts";
import { mattermostChannel } from "./mattermost/channel.ts";
import { msteamsChannel } from "./msteams/channel.ts";
import { ntfyChannel } from "./ntfy/channel.ts";
import { signalChannel } from "./signal/channel.ts";
import { slackChannel } from "./slack/channel.ts";
import { telegramChannel } from "./telegram/channel.ts";
import { whatsappChannel } from "./whatsapp/channel.ts";

type Settings = Config["channels"];

interface ChannelDeps {
  readonly log: Logger;
  /** Environment for the program that sends iMessages; holds none of this service's secrets. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** `server.publicUrl`, to which buttons lead. */
  readonly publicUrl?: string | undefined;
  /** The public address of the hooks, below which services send what people do; undefined without `server.publicUrl`. */
  readonly hooksUrl?: string | undefined;
}

type Factories = {
  readonly [K in keyof Settings]-?: (settings: NonNullable<Settings[K]>, deps: ChannelDeps) => Channel;
};

const FACTORIES: Factories = {
  telegram: (settings, { hooksUrl }) => telegramChannel(settings, hooksUrl),
  slack: (settings) => slackChannel(settings),
  discord: (settings, { hooksUrl }) => discordChannel(settings, hooksUrl),
  mattermost: (settings) => mattermostChannel(settings),
  msteams: (settings) => msteamsChannel(settings),
  whatsapp: (settings) => whatsappChannel(settings),
  signal: (settings) => signalChannel(settings),
  imessage: (settings, { env }) => imessageChannel(settings, env),
  ntfy: (settings, { publicUrl }) => ntfyChannel(settings, publicUrl),
  email: (settings) => emailChannel(settings),
  log: (_settings, { log }) => logChannel(log),
};

/** Creates the configured channels and returns them by name. */
export function openChannels(config: Settings, deps: ChannelDeps): ReadonlyMap<string, Channel> {
  const open = Object.entries(FACTORIES).flatMap(([name, make]): [string, Channel][] => {
    const settings = config[name as keyof Settings];
    // TypeScript cannot see that each factory receives the settings of its own name.
    return settings ? [[name, (make as (settings: object, deps: ChannelDeps) => Channel)(settings, deps)]] : [];
  });
  return new Map(open);
}

/** Creates a channel for development. It logs the recipient and the length of each message and sends nothing. */
const logChannel = (log: Logger): Channel => ({
  style: { dialect: "markdown", limit: 100_000, unit: "utf16" },
  idempotentForMs: Number.POSITIVE_INFINITY,
  async send({ to, text, key }) {
    log.info({ channel: "log", to, chars: text.length }, "delivered to the log");
    return { kind: "sent", id: key };
  },
  check: async () => ({ ok: true, detail: "needs no credentials" }),
});
