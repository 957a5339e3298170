import { useEffect, useMemo } from "preact/hooks";
import type { Delivery, DeliveryState } from "../../client/client.ts";
import { DeliveryActions, partsOf } from "../components/deliveryList.tsx";
import { EmptyState } from "../components/emptyState.tsx";
import { List } from "../components/list.tsx";
import { Notice } from "../components/notice.tsx";
import { StatusMark } from "../components/status.tsx";
import { When } from "../components/when.tsx";
import { agentHookCommand } from "../data/commands.ts";
import { followLive } from "../data/live.ts";
import { LiveList } from "../data/liveList.ts";
import { service } from "../data/service.ts";
import { address, type Place, withQuery } from "../router.ts";
import { useTitle } from "../title.ts";

const STATES = [
  [null, "All"],
  ["pending", "Pending"],
  ["sent", "Sent"],
  ["failed", "Failed"],
] as const;

export function DeliveriesPage({ place: { query } }: { place: Place }) {
  useTitle("Deliveries");
  const [state] = STATES.find(([one]) => one === query.get("state")) ?? STATES[0];
  const channel = query.get("channel");
  const list = useLiveDeliveries(state, channel);
  return (
    <>
      <div class="page-head">
        <h1>Deliveries</h1>
        <nav class="counts" aria-label="Deliveries by state">
          {STATES.map(([one, title]) => (
            <a
              key={title}
              class="count"
              href={withQuery(query, { state: one })}
              aria-current={one === state ? "true" : undefined}
            >
              {title}
            </a>
          ))}
        </nav>
      </div>
      {channel !== null && (
        <p class="filters">
          <a class="chip" href={withQuery(query, { channel: null })} title="Remove this filter">
            channel {channel} ×
          </a>
        </p>
      )}
      <List
        list={list}
        idOf={(delivery) => delivery.deliveryId}
        label="Deliveries, newest first"
        noun={["delivery", "deliveries"]}
        kind="deliveries"
        columns={["To", "Result", "State", "Age", "Actions"]}
        cells={(delivery) => <DeliveryCells delivery={delivery} />}
        empty={<NoDeliveries isFiltered={state !== null || channel !== null} />}
      />
    </>
  );
}

function DeliveryCells({ delivery }: { delivery: Delivery }) {
  const { channel, to, runId, state, reason, parts, createdAt } = delivery;
  const href = runId ? address("/runs/:runId", runId) : address("/sessions/:sessionKey", "main");
  return (
    <>
      <span role="cell" class="cell-name">
        <a href={href}>{channel}</a>
        <bdi class="id">{to ?? "no recipient"}</bdi>
      </span>
      <span role="cell" class="cell-message">
        {reason && <bdi title={reason}>{reason}</bdi>}
        {parts.length > 0 && <span class="muted">{partsOf(delivery)}</span>}
      </span>
      <span role="cell" class="cell-status">
        <StatusMark status={state} />
      </span>
      <span role="cell" class="cell-age">
        <When time={createdAt} />
      </span>
      <span role="cell" class="cell-acts">
        <DeliveryActions delivery={delivery} />
      </span>
    </>
  );
}

function NoDeliveries({ isFiltered }: { isFiltered: boolean }) {
  if (isFiltered) {
    return (
      <Notice title="No deliveries match">
        <a href={address("/deliveries")}>Show all deliveries</a>
      </Notice>
    );
  }
  return (
    <EmptyState
      title="No deliveries yet"
      command={agentHookCommand({ channel: "telegram", to: "CHAT_ID" })}
      guide="how-to/set-up-a-channel"
    >
      This page shows each reply that is sent to a chat: whether it is pending, sent or failed, and why. Send one to a{" "}
      <a href={address("/channels")}>configured channel</a>:
    </EmptyState>
  );
}

function useLiveDeliveries(state: DeliveryState | null, channel: string | null): LiveList<Delivery> {
  const list = useMemo(
    () =>
      new LiveList<Delivery>({
        idOf: (delivery) => delivery.deliveryId,
        createdAt: (delivery) => delivery.createdAt,
        merge: (_, newer) => newer,
        load: async ({ limit, cursor, signal }) => {
          const query = { limit, cursor: cursor ?? undefined, ...(state && { state }), ...(channel && { channel }) };
          const { deliveries, nextCursor } = await service.deliveries.list(query, { signal });
          return { rows: deliveries, nextCursor };
        },
      }),
    [state, channel],
  );
  useEffect(() => {
    void list.reload();
    const stop = followLive(
      { topics: ["deliveries"] },
      {
        onStart: () => void list.reload(),
        delivery: (delivery) => {
          const matches = (!state || delivery.state === state) && (!channel || delivery.channel === channel);
          if (matches) list.put(delivery);
          else list.remove(delivery.deliveryId);
        },
      },
    );
    return () => {
      stop();
      list.close();
    };
  }, [list]);
  return list;
}
