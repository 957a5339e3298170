import { useEffect } from "preact/hooks";
import type { Mailbox, ReplyTarget } from "../../wire/channel.ts";
import { ChannelRow } from "../components/channel/channelRow.tsx";
import { PageHead } from "../components/frame/pageHead.tsx";
import { Icon } from "../components/icon.tsx";
import { EmptyState, Failure, GuideLink } from "../components/notice.tsx";
import { Section } from "../components/section.tsx";
import { Facts } from "../components/values/facts.tsx";
import { JsonBlock } from "../components/values/json.tsx";
import { When } from "../components/values/when.tsx";
import { noticeChannels } from "../data/channel/stoppedChannels.ts";
import { CHECK_CHANNELS } from "../data/commands.ts";
import { useLive, useReloadEvery } from "../data/live/useLive.ts";
import { service } from "../data/service.ts";
import { useQuery } from "../data/useQuery.ts";

const POLL_EVERY_MS = 5_000;

export function ChannelsPage() {
  const channels = useQuery((signal) => service.channels({ signal }), "", { isLive: true });
  const gmail = useQuery((signal) => service.gmail({ signal }), "", { isLive: true });
  const reload = () => {
    channels.reload();
    gmail.reload();
  };
  useLive({ topics: ["deliveries"] }, { onStart: reload, delivery: channels.reloadSoon });
  useReloadEvery(reload, POLL_EVERY_MS); // No live events report the route and the mailbox.
  useEffect(() => {
    if (channels.value) noticeChannels(channels.value.channels);
  }, [channels.value]);
  const all = channels.value?.channels ?? [];
  const [configured, others] = [all.filter((one) => one.configured), all.filter((one) => !one.configured)];
  return (
    <>
      <PageHead title="Channels" />
      {channels.error !== null && <Failure error={channels.error} retry={channels.reload} />}
      {channels.value && (
        <>
          <MainReplyTarget route={channels.value.route} />
          {configured.length === 0 && (
            <EmptyState title="No channels yet" command={CHECK_CHANNELS} guide="how-to/set-up-a-channel">
              This page shows the deliveries to each channel. Until a channel is configured, replies are stored with
              their runs only. Add its credentials under <code>channels</code> in the configuration file, then check
              them:
            </EmptyState>
          )}
          <ul class="stack">
            {configured.map((one) => (
              <ChannelRow key={one.channel} channel={one} route={channels.value?.route ?? null} onChange={reload} />
            ))}
          </ul>
          {others.length > 0 && (
            <p class="muted">
              Not configured: {others.map((one) => one.channel).join(", ")}. Deliveries to a channel fail until its
              credentials are under <code>channels</code> in the configuration file.{" "}
              <GuideLink page="how-to/set-up-a-channel" />
            </p>
          )}
        </>
      )}
      <Section id="gmail" title="Gmail">
        {gmail.error !== null && <Failure error={gmail.error} retry={gmail.reload} />}
        {gmail.value && !gmail.value.gmail && (
          <p class="muted">
            No mailbox is connected. Connect one: <code>npx signalbox webhooks gmail setup</code>
          </p>
        )}
        {gmail.value?.gmail && <MailboxCard state={gmail.value.gmail} />}
      </Section>
    </>
  );
}

function MailboxCard({ state }: { state: Mailbox }) {
  const time = (at: string | null, never: string) => (at ? <When time={at} /> : never);
  return (
    <>
      <div class="card">
        <p class={`status status-${state.ok ? "completed" : "failed"}`}>
          <Icon name={state.ok ? "completed" : "warn"} />{" "}
          {state.ok ? "Each new email starts a run" : "The mailbox needs attention"}
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
            ["Last checked", time(state.listedAt, "never")],
            ["Last email", time(state.lastMailAt, "none yet")],
            ["Last notification", time(state.lastNoticeAt, "none yet")],
            ["Notifications expire", time(state.watchExpiresAt, "not requested")],
          ]}
        />
      </div>
      <JsonBlock title="Full state" value={state} file="gmail" />
    </>
  );
}

function MainReplyTarget({ route }: { route: ReplyTarget | null }) {
  return (
    <p class="card route">
      {route ? (
        <>
          Replies of the main session go to <b>{route.channel}</b> <bdi class="id">{route.to}</bdi>
        </>
      ) : (
        <>
          The main session has no recipient yet. Choose <i>Use for replies</i> at a channel, or set{" "}
          <code>session.main</code> in the configuration file.
        </>
      )}
    </p>
  );
}
