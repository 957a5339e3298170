import type { Config } from "../../shared/config/schema/config.ts";
import type { Channel } from "../channel.ts";
import { signalDaemon } from "./daemon.ts";
import { signalRest } from "./rest.ts";

type SignalSettings = NonNullable<Config["channels"]["signal"]>;

/**
 * Signal, through signal-cli behind either of its servers. It has no idempotency key. What is longer than 2,000 bytes goes as
 * an attachment, which clients show only in part.
 */
export function signalChannel(settings: SignalSettings): Channel {
  return {
    style: { dialect: "signal", limit: 2_000, unit: "bytes" },
    idempotentForMs: 0,
    ...(settings.kind === "daemon" ? signalDaemon(settings) : signalRest(settings)),
  };
}
