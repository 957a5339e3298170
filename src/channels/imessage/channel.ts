import type { Config } from "../../config/config.ts";
import type { Channel } from "../channel.ts";
import { blueBubbles } from "./blueBubbles.ts";
import { type Environment, imsg } from "./imsg.ts";

type ImessageSettings = NonNullable<Config["channels"]["imessage"]>;

/**
 * Creates the channel for iMessage, through a BlueBubbles server or the `imsg` command. iMessage has no idempotency key and no
 * rate limit.
 * @param environment of this process; the command receives a few of its variables
 */
export function imessageChannel(settings: ImessageSettings, environment: Environment): Channel {
  return {
    style: { dialect: "plain", limit: 4_000, unit: "utf16" },
    idempotentForMs: 0,
    ...(settings.kind === "imsg" ? imsg(settings, environment) : blueBubbles(settings)),
  };
}
