import { useEffect } from "preact/hooks";
import type { Channel } from "../../client/client.ts";
import { Facts } from "../components/facts.tsx";
import { Icon } from "../components/icon.tsx";
import { JsonBlock } from "../components/json.tsx";
import { Failure } from "../components/notice.tsx";
import { When } from "../components/when.tsx";
import { followLive } from "../data/live.ts";
import { useReloadEvery } from "../data/reloadEvery.ts";
import { service } from "../data/service.ts";
import { throttle } from "../data/throttle.ts";
import { useQuery } from "../data/useQuery.ts";
import { count } from "../time.ts";
import { useTitle } from "../title.ts";

const RELOAD_EVERY_MS = 1_000;
const POLL_EVERY_MS = 5_000;

export function ChannelsPage() {
  useTitle("Channels");
  const channels = useQuery((signal) => service.channels({ signal }));
  const gmail = useQuery((signal) => service.gmail({ signal }));
  const reload = () => {
    channels.reload();
    gmail.reload();
  };
  useEffect(() => {
    const reloadSoon = throttle(channels.reload, RELOAD_EVERY_MS);
    const stop = followLive({ topics: ["deliveries"] }, { onStart: reload, delivery: reloadSoon });
    return () => {
      stop();
      reloadSoon.stop();
    };
  }, []);
  useReloadEvery(reload, POLL_EVERY_MS); // No live events report the route and the mailbox.
  const all = channels.value?.channels ?? [];
  const [configured, others] = [all.filter((one) => one.configured), all.filter((one) => !one.configured)];
  return (
    <>
      <div class="page-head">
        <h1>Channels</h1>
      </div>
      {channels.error !== null && <Failure error={channels.error} retry={channels.reload} />}
      {channels.value && (
        <>
          <MainReplyTarget route={channels.value.route} />
          {configured.length === 0 && (
            <p class="muted section-note">
              No channel is set up yet: replies stay on their runs. <code>docs/how-to/set-up-a-channel.md</code> says
              what each needs.
            </p>
          )}
          <ul class="cards grid">
            {configured.map((one) => (
              <ChannelCard key={one.channel} channel={one} />
            ))}
          </ul>
          {others.length > 0 && (
            <p class="muted section-note">
              Not set up: {others.map((one) => one.channel).join(", ")}. Their credentials go into the configuration,
              under <code>channels.NAME</code>.
            </p>
          )}
        </>
      )}
      <section aria-labelledby="gmail-title" class="section">
        <h2 id="gmail-title" class="section-title">
          Gmail
        </h2>
        {gmail.error !== null && <Failure error={gmail.error} retry={gmail.reload} />}
        {gmail.value && !gmail.value.gmail && (
          <p class="muted">
            No mailbox is listened to. To set one up: <code>npx signalbox webhooks gmail setup</code>
          </p>
        )}
        {gmail.value?.gmail && <Mailbox state={gmail.value.gmail as unknown as GmailState} />}
      </section>
    </>
  );
}

/** The fields of the listener's state that the page shows; the JSON block contains all of them. */
interface GmailState {
  readonly ok: boolean;
  readonly problems: readonly string[];
  readonly account: string;
  readonly listener: string | null;
  readonly listedAt: string | null;
  readonly lastMailAt: string | null;
  readonly lastNoticeAt: string | null;
  readonly watchExpiresAt: string | null;
}

function Mailbox({ state }: { state: GmailState }) {
  const time = (at: string | null, never: string) => (at ? <When time={at} /> : never);
  return (
    <>
      <div class="card">
        <p class={`status status-${state.ok ? "completed" : "failed"}`}>
          <Icon name={state.ok ? "completed" : "warn"} /> {state.ok ? "New mails become runs" : "Something is wrong"}
        </p>
        {state.problems.map((problem) => (
          <p key={problem} class="fault">
            {problem}
          </p>
        ))}
        <Facts
          facts={[
            ["Mailbox", <bdi>{state.account}</bdi>],
            ["Listener", state.listener ?? "none"],
            ["Looked through", time(state.listedAt, "never")],
            ["Last mail", time(state.lastMailAt, "none yet")],
            ["Last notice", time(state.lastNoticeAt, "none yet")],
            ["Notices until", time(state.watchExpiresAt, "none are sent")],
          ]}
        />
      </div>
      <JsonBlock title="All of its state" value={state} file="gmail" />
    </>
  );
}

function MainReplyTarget({ route }: { route: { channel: string; to: string } | null }) {
  return (
    <p class="card route">
      {route ? (
        <>
          The main session writes to <b>{route.channel}</b> <bdi class="id">{route.to}</bdi>
        </>
      ) : (
        <>
          The main session has nobody to write to yet: <code>npx signalbox route set CHANNEL TO</code>, or the first
          delivery, gives it somebody.
        </>
      )}
    </p>
  );
}

function ChannelCard({ channel: { channel, pending, failed, lastSentAt, lastFailure } }: { channel: Channel }) {
  const hrefOf = (state: string) => `/deliveries?channel=${encodeURIComponent(channel)}&state=${state}`;
  return (
    <li class="card">
      <h2>{channel}</h2>
      <p class="figures">
        <a href={hrefOf("pending")}>
          <b>{count(pending)}</b> pending
        </a>
        <a href={hrefOf("failed")} class={failed > 0 ? "fault" : undefined}>
          <b>{count(failed)}</b> failed in 24 h
        </a>
      </p>
      <p class="muted">
        {lastSentAt ? (
          <>
            Last sent <When time={lastSentAt} />
          </>
        ) : (
          "Nothing sent yet"
        )}
      </p>
      {lastFailure && (
        <p class="fault">
          <bdi>{lastFailure}</bdi>
        </p>
      )}
    </li>
  );
}
