import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import type { Channel, OutgoingMessage, SendOutcome } from "../../channels/channel.ts";
import { openChannels } from "../../channels/channels.ts";
import { toParts } from "../../channels/markdown/parts.ts";
import { readConfig } from "../../shared/config/load.ts";
import { withoutOwnSecrets } from "../../shared/config/ownSecrets.ts";
import { StartError } from "../../shared/lifecycle.ts";
import { createLogger } from "../../shared/logger.ts";
import { parseRecipient } from "../recipient.ts";

const CHECK_WITHIN_MS = 20_000;
/** Maximum total wait for the end of a rate limit, short enough for a person at a terminal. */
const MAX_RATE_LIMIT_WAIT_MS = 60_000;

const channelsOf = (env: NodeJS.ProcessEnv) =>
  openChannels(readConfig(env).channels, {
    log: createLogger({ level: "silent", name: "cli", pretty: false }),
    env: withoutOwnSecrets(env),
  });

/**
 * `channels check`: tries each configured channel's credentials without sending anything.
 * @returns whether all of them are valid
 * @throws ConfigError
 */
export async function checkChannels(env: NodeJS.ProcessEnv): Promise<boolean> {
  const channels = channelsOf(env);
  if (channels.size === 0) console.log("No channel is configured. Add one to `channels` in the configuration file.");
  const signal = AbortSignal.timeout(CHECK_WITHIN_MS);
  const checked = await Promise.all(
    [...channels].map(async ([name, channel]) => ({ name, ...(await channel.check(signal)) })),
  );
  for (const { name, ok, detail } of checked) console.log(`${ok ? "ok  " : "FAIL"}  ${name.padEnd(10)}  ${detail}`);
  return checked.every(({ ok }) => ok);
}

/**
 * `deliver CHANNEL --to ID --text …`: sends one message from this process, in as many parts as necessary.
 * @throws StartError if it was not sent, or possibly not sent
 */
export async function deliverText(env: NodeJS.ProcessEnv, name: string, typed: string, text: string): Promise<void> {
  const channel = channelsOf(env).get(name);
  if (!channel) throw new StartError(`The channel ${name} is not configured: add channels.${name}.`);
  const to = parseRecipient(typed);
  const parts = toParts(text, channel.style);
  if (parts.length === 0) throw new StartError("--text is empty: pass the message to send.");
  const key = randomUUID();
  for (const [index, part] of parts.entries()) {
    const message = { to, text: part.text, plain: false, key: `${key}-${index}` };
    let result = await send(channel, message);
    if (result.kind === "content") result = await send(channel, { ...message, text: part.plain, plain: true });
    if (result.kind !== "sent") {
      const notSent = result.kind === "ambiguous" ? "It may have been sent" : "Nothing was sent";
      const sent = index === 0 ? notSent : `${index} of ${parts.length} parts were sent`;
      throw new StartError(`${sent} to ${name} (${result.kind}): ${result.reason}`);
    }
    console.log(`sent ${index + 1} of ${parts.length}${result.id ? ` (${result.id})` : ""}`);
  }
}

async function send(channel: Channel, message: OutgoingMessage): Promise<SendOutcome> {
  const { signal } = new AbortController();
  for (let waitedMs = 0; ; ) {
    const result = await channel.send(message, signal);
    if (result.kind !== "rate-limited") return result;
    const forMs = Math.max(result.retryAfterMs ?? 0, 1_000);
    waitedMs += forMs;
    if (waitedMs > MAX_RATE_LIMIT_WAIT_MS) return result;
    await pause(forMs);
  }
}
