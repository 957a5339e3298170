import type { Channels } from "../config/channels/channels.ts";
import type { Timings } from "../shared/timings.ts";
import type { InboundSource } from "./inbound.ts";
import { slackSocket } from "./slack/socket.ts";
import { telegramUpdates } from "./telegram/updates.ts";
import { telegramWebhook } from "./telegram/webhook.ts";

interface InboundDeps {
  /** The public address of the hooks; undefined without `server.publicUrl`. */
  readonly hooksUrl: string | undefined;
  readonly timings: Pick<Timings["chat"], "waitSeconds" | "silenceMs">;
}

/** Returns the sources of the acts of people by channel, for the services of which a worker has to ask something for that. */
export function openInbound(
  { telegram, slack }: Channels,
  { hooksUrl, timings }: InboundDeps,
): ReadonlyMap<string, InboundSource> {
  const { waitSeconds, silenceMs } = timings;
  const sources = new Map<string, InboundSource>();
  if (telegram?.allowFrom) {
    const isWebhook = telegram.inbound === "webhook" && hooksUrl !== undefined;
    const source = isWebhook
      ? telegramWebhook(telegram, hooksUrl)
      : telegramUpdates(telegram, { waitSeconds, hooksUrl });
    sources.set("telegram", source);
  }
  if (slack?.allowFrom && slack.appToken !== undefined) {
    sources.set("slack", slackSocket({ ...slack, appToken: slack.appToken }, silenceMs));
  }
  return sources;
}
