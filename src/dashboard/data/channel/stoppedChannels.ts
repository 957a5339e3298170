import { signal } from "@preact/signals";
import type { Channel } from "../../../client/client.ts";
import { service } from "../service.ts";

/** The number of channels whose service refuses the credentials. Null until the service has responded. */
export const stoppedChannels = signal<number | null>(null);

/** Counts the stopped channels. Keeps the former number if that fails. */
export async function countStoppedChannels(): Promise<void> {
  const found = await service.channels().catch(() => null);
  if (found) noticeChannels(found.channels);
}

/** Counts the stopped ones among all channels, which a page has read. */
export function noticeChannels(channels: readonly Channel[]): void {
  stoppedChannels.value = channels.filter(({ state }) => state === "stopped").length;
}
