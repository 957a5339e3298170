import type { Config } from "../shared/configSchema.ts";
import type { Logger } from "../shared/logger.ts";
import type { Channel } from "./channel.ts";
import { logChannel } from "./log.ts";

/** The channels that are configured, by name. */
export function openChannels(config: Config["channels"], log: Logger): ReadonlyMap<string, Channel> {
  const open = new Map<string, Channel>();
  if (config.log) open.set("log", logChannel(log));
  return open;
}
