import { resolve } from "node:path";
import { hostsOf } from "../../shared/address.ts";
import { endOfLife, FIRST_MAINTAINED } from "../../shared/process/version.ts";
import type { FoundAgent } from "./findAgents.ts";
import type { Settings } from "./firstUse.ts";

interface SummaryOptions {
  readonly url: string;
  /** Whether source files are watched. */
  readonly watch: boolean;
  /** The command with which this instance reads its configuration again. */
  readonly reload: string;
  /** Whether all processes of this instance log to one file, of which the terminal shows a part. */
  readonly hasLogFile: boolean;
  /** The version of MongoDB, if it is a configured one. */
  readonly mongodbVersion: string | undefined;
  /** Agents of this machine, if none is configured. */
  readonly agents: readonly FoundAgent[];
}

/**
 * Returns the text that `start` prints once everything runs. It shows the hosts of configured servers but never their
 * credentials, and the hook token only if it was generated here, because no configuration shows it.
 */
export function summary(settings: Pick<Settings, "config" | "generatedToken">, options: SummaryOptions): string {
  const { config } = settings;
  const { uri } = config.mongodb;
  const { url: redisUrl } = config.redis;
  const { url, watch, reload, hasLogFile, mongodbVersion, agents } = options;
  const rows = [
    ["Guide", `${url}/guide/`],
    ...hookRows(settings),
    ...agentRows(agents, url),
    ...(config.hooks.gmail
      ? [["Gmail", `${config.hooks.gmail.account} (state: npx signalbox webhooks gmail status)`]]
      : []),
    ["Data", uri ? `MongoDB at ${hostsOf(uri)}` : resolve(config.dataDir)],
    ["MongoDB", uri ? hostsOf(uri) : "embedded (another one: MONGODB_URI)"],
    ...outdatedRows(mongodbVersion),
    ["Redis", redisUrl ? hostsOf(redisUrl) : "embedded (another one: REDIS_URL)"],
    ...(hasLogFile ? [["Log", "npx signalbox logs   prints all of it; here is what is slow or fails"]] : []),
    ["Reload", `${reload}   reads a changed configuration file`],
    ["Stop", `Ctrl-C${watch ? " (restarts when a source file changes)" : ""}`],
  ];
  const lines = rows.map(([name = "", value]) => `  ${name.padEnd(10)}${value}`.trimEnd());
  return `\nSignalbox is ready.\n\n  Open ${url}\n\n${lines.join("\n")}\n`;
}

/** Offers the first agent with its settings, and names the others. */
function agentRows(agents: readonly FoundAgent[], url: string): string[][] {
  const [first] = agents;
  if (!first) return [];
  const settings = first.settings.split("\n").map((line) => [`  ${line}`, ""]);
  return [
    ["Found", `${agents.map(({ name }) => name).join(", ")} (not used yet)`],
    ["", `For ${first.name}, add to signalbox.json5 (npx signalbox init):`],
    ...settings,
    ["", `More: ${url}/guide/how-to/set-up-an-agent`],
  ];
}

/** Warns of a MongoDB that gets no security updates. For the embedded one the page *Settings* does. */
function outdatedRows(version: string | undefined): string[][] {
  if (version === undefined || endOfLife(version) === undefined) return [];
  return [
    ["Warning", `MongoDB ${version} is past its end of life: it gets no security updates.`],
    ["", `Name one of version ${FIRST_MAINTAINED}.0 or later in MONGODB_URI.`],
  ];
}

function hookRows({ config, generatedToken }: Pick<Settings, "config" | "generatedToken">): string[][] {
  const { enabled, path } = config.hooks;
  if (!enabled) return [["Hooks", "off (set hooks.enabled and hooks.token in signalbox.json5)"]];
  const { runner, model } = config.agents.defaults;
  const echo = "echo, which repeats its input (set agents.defaults.runner)";
  return [
    ["Hooks", `POST ${config.server.basePath ?? ""}${path}/agent`],
    ["Token", `Authorization: Bearer ${generatedToken ?? "… (the configured hooks.token)"}`],
    ["Agent", runner === "echo" ? echo : `${runner}${model ? `, ${model}` : ""}`],
  ];
}
