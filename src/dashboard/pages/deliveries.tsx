import type { Delivery } from "../../client/client.ts";
import { deliveryColumns } from "../components/delivery/deliveryColumns.tsx";
import { PageHead } from "../components/frame/pageHead.tsx";
import { EmptyState } from "../components/notice.tsx";
import { FilterChips, Pills, stateChoices } from "../components/tables/filters.tsx";
import { List } from "../components/tables/list.tsx";
import { agentHookCommand } from "../data/commands.ts";
import { firstPending } from "../data/delivery/waitsFor.ts";
import { givenFilters } from "../data/filter.ts";
import { useLiveList, useRows } from "../data/live/useLive.ts";
import { service } from "../data/service.ts";
import { useQuery } from "../data/useQuery.ts";
import { address, type Place } from "../router.ts";

const STATES = ["pending", "sent", "failed"] as const;
const OTHERS = { kind: ["channel", "webhook", "wake"], channel: null, rule: null } as const;

export function DeliveriesPage({ place: { query } }: { place: Place }) {
  const others = givenFilters(query, OTHERS);
  const filter = { ...others, ...givenFilters(query, { state: STATES }) };
  const stats = useQuery((signal) => service.deliveryCounts(others, { signal }), JSON.stringify(others), {
    isLive: true,
  });
  const { capped, ...counts } = stats.value ?? {};
  const list = useRows({ rows: "deliveries", id: "deliveryId", time: "createdAt", filter }, (page, options) =>
    service.deliveries.list({ ...page, ...filter }, options),
  );
  const onDelivery = (delivery: Delivery) => {
    stats.reloadSoon();
    const wanted = Object.entries(filter) as [keyof Delivery, string][];
    if (wanted.every(([name, value]) => delivery[name] === value)) list.put(delivery);
    else list.remove(delivery.deliveryId);
  };
  useLiveList(list, { topics: ["deliveries"] }, { onStart: stats.reloadSoon, delivery: onDelivery });
  return (
    <>
      <PageHead title="Deliveries">
        <Pills
          label="Deliveries by state"
          query={query}
          parameter="state"
          choices={stateChoices(STATES)}
          counts={stats.value && counts}
          isCapped={capped}
        />
      </PageHead>
      <FilterChips query={query} titles={{ kind: "kind", channel: "channel", rule: "rule" }} />
      <List
        list={list}
        label="Deliveries, newest first"
        noun={["delivery", "deliveries"]}
        kind="deliveries"
        columns={deliveryColumns(firstPending(list.view.value.rows))}
        isFiltered={Object.keys(filter).length > 0}
        empty={<NoDeliveries />}
      />
    </>
  );
}

function NoDeliveries() {
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
