import { deliveryCounts } from "../../client/calls/page.ts";
import type { Delivery, DeliveryKind, DeliveryState } from "../../client/client.ts";
import type { DeliveryCounts } from "../../wire/delivery.ts";
import { DeliveryCells } from "../components/delivery/deliveryCells.tsx";
import { EmptyState } from "../components/emptyState.tsx";
import { PageHead } from "../components/frame/pageHead.tsx";
import { NoMatch } from "../components/notice.tsx";
import { FilterChips } from "../components/tables/filterChips.tsx";
import { List } from "../components/tables/list.tsx";
import { Pills, stateChoices } from "../components/tables/pills.tsx";
import { agentHookCommand } from "../data/commands.ts";
import { firstPending } from "../data/delivery/waitsFor.ts";
import type { LiveList } from "../data/live/liveList.ts";
import { useLiveList, useRows } from "../data/live/useLiveList.ts";
import { useThrottle } from "../data/live/useThrottle.ts";
import { service } from "../data/service.ts";
import { useQuery } from "../data/useQuery.ts";
import { address, type Place } from "../router.ts";
import { count } from "../time.ts";

const countDeliveries = deliveryCounts(service.call);

const STATES = ["pending", "sent", "failed"] as const satisfies readonly DeliveryState[];

const KINDS = ["channel", "webhook", "wake"] as const satisfies readonly DeliveryKind[];
/** The filters that the page shows as chips. */
const CHIPS = [
  ["kind", "kind"],
  ["channel", "channel"],
  ["rule", "rule"],
] as const;

interface Filter {
  readonly state: DeliveryState | null;
  readonly kind: DeliveryKind | null;
  readonly channel: string | null;
  readonly rule: string | null;
}

export function DeliveriesPage({ place: { query } }: { place: Place }) {
  const state = STATES.find((one) => one === query.get("state")) ?? null;
  const kind = KINDS.find((one) => one === query.get("kind")) ?? null;
  const filter: Filter = { state, kind, channel: query.get("channel"), rule: query.get("rule") };
  const { value: counts, reload } = useQuery(
    (signal) => countDeliveries(withoutState(filter), { signal }),
    JSON.stringify(withoutState(filter)),
    { isLive: true },
  );
  const list = useLiveDeliveries(filter, useThrottle(reload));
  const first = firstPending(list.view.value.rows);
  return (
    <>
      <PageHead title="Deliveries">
        <Pills
          label="Deliveries by state"
          query={query}
          parameter="state"
          choices={stateChoices(STATES)}
          countOf={(value) => (counts ? counted(counts, (value as DeliveryState | null) ?? "total") : "–")}
        />
      </PageHead>
      <FilterChips query={query} filters={CHIPS} />
      <List
        list={list}
        label="Deliveries, newest first"
        noun={["delivery", "deliveries"]}
        kind="deliveries"
        columns={["To", "Message", "State", "Age", "Actions"]}
        widths="minmax(0, 3fr) minmax(0, 6fr) 96px 84px 224px"
        cells={(delivery) => <DeliveryCells delivery={delivery} first={first} />}
        empty={<NoDeliveries isFiltered={Object.values(filter).some(Boolean)} />}
      />
    </>
  );
}

/** Returns a count; with a plus if more deliveries match than were counted. */
const counted = (counts: DeliveryCounts, key: DeliveryState | "total"): string =>
  count(counts[key]) + (counts.capped ? "+" : "");

/** Returns the filters other than the state, without the empty ones. */
const withoutState = ({ kind, channel, rule }: Filter) => ({
  ...(kind && { kind }),
  ...(channel && { channel }),
  ...(rule && { rule }),
});

function NoDeliveries({ isFiltered }: { isFiltered: boolean }) {
  if (isFiltered) return <NoMatch rows="deliveries" path="/deliveries" />;
  return (
    <EmptyState
      title="No deliveries yet"
      command={agentHookCommand({ channel: "telegram", to: "123456789" })}
      guide="how-to/set-up-a-channel"
    >
      This page shows each reply and each <a href={address("/notify")}>notification</a>: whether it is pending, sent or
      failed, and why. Send a reply to a <a href={address("/channels")}>configured channel</a>:
    </EmptyState>
  );
}

/** @param onChange called when the counts may have changed */
function useLiveDeliveries(wanted: Filter, onChange: () => void): LiveList<Delivery> {
  const { state, kind, channel, rule } = wanted;
  const list = useRows<Delivery>(
    { id: "deliveryId", time: "createdAt", filters: [state, kind, channel, rule] },
    async (page, options) => {
      const filter = { ...withoutState(wanted), ...(state && { state }) };
      const { deliveries, nextCursor } = await service.deliveries.list({ ...page, ...filter }, options);
      return { rows: deliveries, nextCursor };
    },
  );
  useLiveList(
    list,
    { topics: ["deliveries"] },
    {
      onStart: onChange,
      delivery: (delivery) => {
        onChange();
        const matches =
          (!state || delivery.state === state) &&
          (!kind || delivery.kind === kind) &&
          (!channel || delivery.channel === channel) &&
          (!rule || delivery.rule === rule);
        if (matches) list.put(delivery);
        else list.remove(delivery.deliveryId);
      },
    },
  );
  return list;
}
