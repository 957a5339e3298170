import type { Logger } from "../shared/logger.ts";
import type { Channel } from "./channel.ts";

/** Creates a channel for development. It logs the recipient and the length of each message and sends nothing. */
export const logChannel = (log: Logger): Channel => ({
  style: { dialect: "markdown", limit: 100_000, unit: "utf16" },
  idempotentForMs: Number.POSITIVE_INFINITY,
  async send({ to, text, key }) {
    log.info({ channel: "log", to, chars: text.length }, "delivered to the log");
    return { kind: "sent", id: key };
  },
  check: async () => ({ ok: true, detail: "needs no credentials" }),
});
