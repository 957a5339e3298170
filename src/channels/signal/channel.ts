import type { Config } from "../../config/config.ts";
import type { Channel } from "../channel.ts";
import { signalDaemon } from "./daemon.ts";
import { signalRest } from "./rest.ts";

type SignalSettings = NonNullable<Config["channels"]["signal"]>;

/**
 * Creates the channel for Signal, through signal-cli behind either of its servers. Signal has no idempotency key. Its limit is
 * 2,000 bytes, as longer texts are sent as attachments, of which clients show only a part.
 */
export function signalChannel(settings: SignalSettings): Channel {
  return {
    style: { dialect: "signal", limit: 2_000, unit: "bytes" },
    idempotentForMs: 0,
    ...(settings.kind === "daemon" ? signalDaemon(settings) : signalRest(settings)),
  };
}
