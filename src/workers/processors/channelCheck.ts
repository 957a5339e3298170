import type { Channel } from "../../channels/channel.ts";
import { unconfigured } from "../../models/deliveries/addDelivery.ts";
import type { Stores } from "../../models/stores.ts";
import { inboundTask } from "../chat/receiveActs.ts";
import type { Processor } from "../runWorkers.ts";

interface CheckDeps {
  readonly channels: ReadonlyMap<string, Channel>;
  readonly stores: Pick<Stores, "leases">;
}

/** Returns the processor that checks the credentials of a channel, and whether the acts of people arrive, without sending a message. */
export function channelCheckProcessor({ channels, stores }: CheckDeps): Processor {
  return async ({ payload }, { signal }) => {
    const { channel: name } = payload as { channel: string };
    const channel = channels.get(name);
    // The configuration of this worker may be older than that of the API.
    const result = channel ? await channel.check(signal) : { ok: false, detail: unconfigured(name) };
    const fault = result.ok ? await stores.leases.faultOf(inboundTask(name)) : null;
    if (fault === null) return { kind: "done", result };
    return { kind: "done", result: { ok: false, detail: `${result.detail}, which do not arrive: ${fault}` } };
  };
}
