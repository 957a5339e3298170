import type { Channel } from "../../channels/channel.ts";
import { unconfigured } from "../../models/deliveries/addDelivery.ts";
import type { Processor } from "../runWorkers.ts";

/** Returns the processor that checks the credentials of a channel, without sending a message. */
export function channelCheckProcessor(channels: ReadonlyMap<string, Channel>): Processor {
  return async ({ payload }, { signal }) => {
    const { channel: name } = payload as { channel: string };
    const channel = channels.get(name);
    // The configuration of this worker may be older than that of the API.
    const result = channel ? await channel.check(signal) : { ok: false, detail: unconfigured(name) };
    return { kind: "done", result };
  };
}
