import { access, hasScope } from "../../data/access.ts";
import { channels } from "../../data/service.ts";
import { useMutation } from "../../data/useMutation.ts";
import { DeliveryCounts } from "../delivery/deliveryList.tsx";
import { Icon } from "../icon.tsx";
import { When } from "../values/when.tsx";
import { type ChannelProps, ChannelTest } from "./channelTest.tsx";

/** A channel with its deliveries, and what the access allows to do with it. */
export function ChannelCard(props: ChannelProps) {
  const { channel, pending, failed, lastSentAt, lastFailure, state } = props.channel;
  const canAct = hasScope(access.value, "runs:write");
  return (
    <li class="card" aria-labelledby={`channel-${channel}`}>
      <h2 id={`channel-${channel}`}>{channel}</h2>
      {state === "stopped" && <Stop {...props} canAct={canAct} />}
      {state === "ready" && failed === 0 && (
        <p class="status status-sent">
          <Icon name="completed" /> Ready
        </p>
      )}
      <DeliveryCounts query={`channel=${encodeURIComponent(channel)}`} pending={pending} failed={failed} />
      <p class="muted">
        {lastSentAt ? (
          <>
            Last sent <When time={lastSentAt} />
          </>
        ) : (
          "Nothing sent in 24 h"
        )}
      </p>
      {lastFailure && (
        <p class="fault">
          <bdi>{lastFailure}</bdi>
        </p>
      )}
      {canAct && <ChannelTest {...props} />}
    </li>
  );
}

/** Since when and why a channel sends nothing, and when the credentials are tried again. */
function Stop({ channel: { channel, ...one }, canAct, onChange }: ChannelProps & { canAct: boolean }) {
  const { isPending, mutate } = useMutation(channel, onChange);
  return (
    <>
      <p class="status status-failed">
        <Icon name="failed" /> Stopped {one.stoppedSince && <When time={one.stoppedSince} />}
      </p>
      <p class="fault">
        <bdi>{one.reason}</bdi>
      </p>
      <p class="muted">
        {one.nextTryAt ? (
          <>
            Next try <When time={one.nextTryAt} />
          </>
        ) : (
          "Being tried now"
        )}
      </p>
      {canAct && (
        <p class="acts line">
          <button
            type="button"
            aria-label={`Resume ${channel}`}
            disabled={isPending}
            onClick={() => mutate((name) => channels.resume(name), "Trying the credentials now")}
          >
            <Icon name="retry" /> Resume
          </button>
        </p>
      )}
    </>
  );
}
