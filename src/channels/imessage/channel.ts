import type { Config } from "../../shared/config/schema/config.ts";
import type { Channel } from "../channel.ts";
import { blueBubbles } from "./blueBubbles.ts";
import { type Environment, imsg } from "./imsg.ts";

type ImessageSettings = NonNullable<Config["channels"]["imessage"]>;

/**
 * iMessage, through a BlueBubbles server or the `imsg` command. It has no idempotency key, and no limit of its own.
 * @param environment of this process; a few variables of it are for the command
 */
export function imessageChannel(settings: ImessageSettings, environment: Environment): Channel {
  return {
    style: { dialect: "plain", limit: 4_000, unit: "utf16" },
    idempotentForMs: 0,
    ...(settings.kind === "imsg" ? imsg(settings, environment) : blueBubbles(settings)),
  };
}
