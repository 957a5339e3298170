import type { ComponentChildren } from "preact";
import type { Hook, HookHour } from "../../../wire/hookRequest.ts";
import { useReloadEvery } from "../../data/live/reloadEvery.ts";
import { requestSummary } from "../../data/requestSummary.ts";
import { hookRequests } from "../../data/service.ts";
import { useQuery } from "../../data/useQuery.ts";
import { address } from "../../router.ts";
import { visible } from "../../text.ts";
import { CopiedAddress } from "../values/copiedAddress.tsx";
import { When } from "../values/when.tsx";

const RELOAD_EVERY_MS = 15_000;

interface HookListProps {
  readonly current: string | null;
  /** The content below the hooks. It waits for them, because it would move when they arrive. */
  readonly children: ComponentChildren;
}

/** The hooks, one a row: name, address, the verdict about the last request, and a bar for each hour of the last day. */
export function HookList({ current, children }: HookListProps) {
  const { value, error, reload } = useQuery((signal) => hookRequests.hooks({ signal }));
  useReloadEvery(reload, RELOAD_EVERY_MS);
  if (!value && error === null) return null;
  return (
    <>
      {value && value.hooks.length > 0 && (
        <ul class="box" aria-label="Hooks">
          {value.hooks.map((hook) => (
            <HookRow key={hook.hook} hook={hook} isCurrent={hook.hook === current} />
          ))}
        </ul>
      )}
      {children}
    </>
  );
}

function HookRow({ hook: { hook, sender, mappings, address: url, last, hours }, isCurrent }: HookRowProps) {
  return (
    <li class="hook row" aria-label={visible(hook)}>
      <a
        href={`${address("/requests")}?${new URLSearchParams({ hook })}`}
        aria-current={isCurrent ? "true" : undefined}
      >
        <bdi>{visible(hook)}</bdi>
      </a>
      <span class="muted">{mappings.length === 0 ? "No mapping takes it" : (sender ?? "custom")}</span>
      <span>{url && <CopiedAddress hook={hook} url={url} />}</span>
      <span class={last?.outcome === "refused" || last?.outcome === "failed" ? "fault" : undefined}>
        {last ? (
          <>
            <bdi class="cut">{visible(requestSummary(last))}</bdi>{" "}
            <span class="small muted">
              <When time={last.createdAt} />
            </span>
          </>
        ) : (
          <span class="muted">Nothing in the last 24 hours</span>
        )}
      </span>
      <Bars hours={hours} />
    </li>
  );
}

interface HookRowProps {
  readonly hook: Hook;
  readonly isCurrent: boolean;
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
