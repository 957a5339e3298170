import { access, hasScope } from "../../data/access.ts";
import { service } from "../../data/service.ts";
import { useMutation } from "../../data/useMutation.ts";
import { ActButton } from "../buttons.tsx";
import { DeliveryCounts } from "../delivery/deliveryList.tsx";
import { Icon } from "../icon.tsx";
import { Since, When } from "../values/when.tsx";
import { type ChannelProps, ChannelTest } from "./channelTest.tsx";

/** A channel as a row: its state, its latest delivery, and what the access allows to do with it. */
export function ChannelRow(props: ChannelProps) {
  const { channel, pending, failed, lastSentAt, lastFailure, state } = props.channel;
  const canAct = hasScope(access.value, "runs:write");
  return (
    <li class="card channel line" aria-labelledby={`channel-${channel}`}>
      <h2 id={`channel-${channel}`}>{channel}</h2>
      {state === "ready" && (
        <p class={`status status-${failed === 0 ? "sent" : "stale"}`}>
          <Icon name={failed === 0 ? "completed" : "warn"} /> {failed === 0 ? "Ready" : "Failures"}
        </p>
      )}
      {state === "stopped" && (
        <p class="status status-failed">
          <Icon name="failed" /> Stopped {props.channel.stoppedSince && <When time={props.channel.stoppedSince} />}
        </p>
      )}
      <p class="muted grow">
        <Since text="Last sent" time={lastSentAt} none="Nothing sent in 24 h" />
      </p>
      <DeliveryCounts query={`channel=${encodeURIComponent(channel)}`} pending={pending} failed={failed} />
      {canAct && <ChannelTest {...props} />}
      {state === "stopped" && <Stop {...props} canAct={canAct} />}
      {lastFailure && (
        <p class="fault whole">
          <bdi>{lastFailure}</bdi>
        </p>
      )}
    </li>
  );
}

/** Why a channel sends nothing, and when the credentials are tried again. */
function Stop({ channel: { channel, ...one }, canAct, onChange }: ChannelProps & { canAct: boolean }) {
  const { isPending, mutate } = useMutation(channel, onChange);
  return (
    <>
      <p class="fault whole">
        <bdi>{one.reason}</bdi>
      </p>
      <p class="muted grow">
        <Since text="Next try" time={one.nextTryAt} none="Being tried now" />
      </p>
      {canAct && (
        <p class="acts line">
          <ActButton
            icon="retry"
            label="Resume"
            aria-label={`Resume ${channel}`}
            disabled={isPending}
            act={() => mutate(service.channel.resume, "Trying the credentials now")}
          />
        </p>
      )}
    </>
  );
}
