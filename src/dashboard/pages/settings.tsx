import type { ComponentChildren } from "preact";
import type { ConfiguredMapping, Settings } from "../../wire/settings.ts";
import { PageHead } from "../components/frame/pageHead.tsx";
import { Icon } from "../components/icon.tsx";
import { Failure, GuideLink } from "../components/notice.tsx";
import { Section } from "../components/section.tsx";
import { CopiedAddress } from "../components/values/copiedAddress.tsx";
import { Facts } from "../components/values/facts.tsx";
import { JsonBlock } from "../components/values/json.tsx";
import { access, hasScope } from "../data/access.ts";
import { useLive, useReloadEvery } from "../data/live/useLive.ts";
import { service } from "../data/service.ts";
import { useQuery } from "../data/useQuery.ts";
import { address } from "../router.ts";

/** The settings of the service, which only its configuration file changes. */
export function SettingsPage() {
  const isAdmin = hasScope(access.value, "admin");
  return (
    <>
      <PageHead title="Settings" />
      {isAdmin ? (
        <AllSettings />
      ) : (
        <p class="muted">
          The configuration is shown to tokens with the scope <code>admin</code>.
        </p>
      )}
    </>
  );
}

function AllSettings() {
  const { value, error, reload } = useQuery((signal) => service.settings({ signal }), "", { isLive: true });
  useLive({ topics: ["runs"] }, { onStart: reload });
  useReloadEvery(reload); // No live events report the health.
  return (
    <>
      <p class="muted">
        Nothing can be changed here. Edit the configuration file, then run <code>npx signalbox reload</code>.{" "}
        <GuideLink page="reference/configuration" />
      </p>
      {error !== null && <Failure error={error} retry={reload} />}
      {value && (
        <>
          <Health health={value.health} />
          <Versions versions={value.versions} />
          <Mappings mappings={value.mappings} />
          <Rules rules={value.rules} />
          <JsonBlock title="Configuration in force" value={value.config} file="configuration" />
        </>
      )}
    </>
  );
}

const NAMES: Readonly<Record<string, string>> = { mongodb: "MongoDB", redis: "Redis", process: "This web process" };

function Health({ health: { checks, workers } }: { health: Settings["health"] }) {
  return (
    <Section id="health" title="Health">
      <ul class="card facts">
        {checks.map(({ name, ok }) => (
          <Check key={name} isOk={ok}>
            {NAMES[name] ?? name} {ok ? "is ready" : "does not answer"}
          </Check>
        ))}
        {workers === null ? (
          <li class="muted">The number of workers is unknown.</li>
        ) : (
          <Check isOk={workers > 0}>{WORKERS[workers] ?? `${workers} workers are connected`}</Check>
        )}
      </ul>
    </Section>
  );
}

const WORKERS = ["No worker is connected: runs and deliveries wait for one", "1 worker is connected"];

function Check({ isOk, children }: { isOk: boolean; children: ComponentChildren }) {
  return (
    <li class={`status status-${isOk ? "completed" : "failed"}`}>
      <Icon name={isOk ? "completed" : "failed"} /> <span>{children}</span>
    </li>
  );
}

function Versions({ versions: { signalbox, node, mongodb, redis, warning } }: { versions: Settings["versions"] }) {
  return (
    <Section id="versions" title="Versions">
      <div class="card">
        {warning && <p class="fault">{warning}.</p>}
        <Facts
          facts={[
            ["Signalbox", signalbox],
            ["Node", node],
            ["MongoDB", mongodb ?? "unknown"],
            ["Redis", redis ?? "unknown"],
          ]}
        />
      </div>
    </Section>
  );
}

function Mappings({ mappings }: { mappings: readonly ConfiguredMapping[] }) {
  return (
    <Section id="mappings" title="Mappings">
      {mappings.length === 0 && (
        <p class="muted">
          No mapping is configured. <GuideLink page="how-to/map-a-sender" />
        </p>
      )}
      <ul class="stack grid">
        {mappings.map((mapping) => (
          <MappingCard key={mapping.mapping} mapping={mapping} />
        ))}
      </ul>
    </Section>
  );
}

function MappingCard({ mapping: one }: { mapping: ConfiguredMapping }) {
  const { mapping, preset, action, source, when, sessionKey } = one;
  return (
    <li class="card" aria-label={mapping}>
      <h3 dir="auto">{mapping}</h3>
      {one.address ? (
        <p>
          <CopiedAddress hook={mapping} url={one.address} />
        </p>
      ) : (
        <p class="muted">It has no address of its own.</p>
      )}
      <Facts
        facts={[
          ["Preset", preset],
          ["Starts", action === "agent" ? "a run of the agent" : "an event of the main session"],
          ["Source", source],
          ["When", when && <code>{JSON.stringify(when)}</code>],
          ["Session", sessionKey && <code>{sessionKey}</code>],
        ]}
      />
      <p>
        <a href={`${address("/requests")}?${new URLSearchParams({ mapping })}`}>Its requests</a>
      </p>
    </li>
  );
}

function Rules({ rules }: { rules: readonly string[] }) {
  return (
    <Section id="rules" title="Notification rules">
      <p>
        {rules.length === 0 ? "No rule is configured. " : `${rules.join(", ")}. `}
        <a href={address("/notify")}>See notifications</a>
      </p>
    </Section>
  );
}
