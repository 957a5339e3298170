import type { ComponentChildren } from "preact";
import type { Hook, HookHour } from "../../../wire/hookRequest.ts";
import { useReloadEvery } from "../../data/live/useLive.ts";
import { requestSummary } from "../../data/requestSummary.ts";
import { service } from "../../data/service.ts";
import { useQuery } from "../../data/useQuery.ts";
import { address } from "../../router.ts";
import { visible } from "../../text.ts";
import { type Column, RowName, Table } from "../tables/list.tsx";
import { CopiedAddress } from "../values/copiedAddress.tsx";
import { When } from "../values/when.tsx";

interface HookListProps {
  readonly current: string | undefined;
  /** The content below the hooks. It waits for them, because it would move when they arrive. */
  readonly children: ComponentChildren;
}

/** The hooks, one a row: name, address, the verdict about the last request, and a bar for each hour of the last day. */
export function HookList({ current, children }: HookListProps) {
  const { value, error, reload } = useQuery((signal) => service.hookRequests.hooks({ signal }));
  useReloadEvery(reload);
  if (!value && error === null) return null;
  return (
    <>
      {value && value.hooks.length > 0 && (
        <Table
          label="Hooks"
          kind="hooks"
          rows={value.hooks}
          idOf={({ hook }) => hook}
          columns={columnsOf(current)}
          hasKeys={false}
        />
      )}
      {children}
    </>
  );
}

const columnsOf = (current: string | undefined): readonly Column<Hook>[] => [
  {
    title: "Hook",
    name: "name",
    width: "minmax(0, 2fr)",
    cell: ({ hook, mappings, sender }) => (
      <RowName
        href={`${address("/requests")}?${new URLSearchParams({ hook })}`}
        name={hook}
        isCurrent={hook === current}
        id={mappings.length === 0 ? "No mapping takes it" : (sender ?? "custom")}
      />
    ),
  },
  { title: "Last request", name: "message", width: "minmax(0, 4fr)", cell: ({ last }) => <Last request={last} /> },
  {
    title: "Address",
    name: "acts",
    width: "minmax(0, 4fr)",
    cell: ({ hook, address: url }) => url && <CopiedAddress hook={hook} url={url} />,
  },
  { title: "24 hours", name: "status", width: "96px", cell: ({ hours }) => <Bars hours={hours} /> },
];

function Last({ request }: { request: Hook["last"] }) {
  if (!request) return <span class="muted">Nothing in the last 24 hours</span>;
  const isBad = request.outcome === "refused" || request.outcome === "failed";
  const verdict = visible(requestSummary(request));
  return (
    <>
      <bdi class={isBad ? "fault" : undefined} title={verdict}>
        {verdict}
      </bdi>
      <span class="muted">
        <When time={request.createdAt} />
      </span>
    </>
  );
}

const sumOf = ({ accepted, dropped, failed, filtered, refused }: HookHour) =>
  accepted + dropped + failed + filtered + refused;

/** A bar for each hour: its height is the number of requests, red those that were refused or failed. */
function Bars({ hours }: { hours: readonly HookHour[] }) {
  const most = Math.max(1, ...hours.map(sumOf));
  const all = hours.reduce((sum, hour) => sum + sumOf(hour), 0);
  const bad = hours.reduce((sum, { failed, refused }) => sum + failed + refused, 0);
  const text = `${all} ${all === 1 ? "request" : "requests"} in 24 hours${bad > 0 ? `, ${bad} refused or failed` : ""}`;
  return (
    <svg fill="currentColor" viewBox="0 0 96 24" width="96" height="24" role="img" aria-label={text}>
      <title>{text}</title>
      {hours.map((hour, i) => {
        const height = sumOf(hour) === 0 ? 1 : 3 + (sumOf(hour) / most) * 21;
        const red = ((hour.failed + hour.refused) / Math.max(1, sumOf(hour))) * height;
        return (
          <g key={i}>
            <rect
              x={i * 4}
              y={24 - height}
              width="3"
              height={height}
              class={sumOf(hour) === 0 ? "muted" : "status-completed"}
            />
            {red > 0 && <rect x={i * 4} y={24 - red} width="3" height={red} class="fault" />}
          </g>
        );
      })}
    </svg>
  );
}
