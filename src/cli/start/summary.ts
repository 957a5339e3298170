import { resolve } from "node:path";
import { hostsOf } from "../../shared/address.ts";
import type { Settings } from "./firstUse.ts";

/**
 * Returns the text that `start` prints once everything runs. It shows the hosts of configured servers but never their
 * credentials, and the hook token only if it was generated here, because no configuration shows it.
 */
export function summary(settings: Pick<Settings, "config" | "generatedToken">, url: string, watch: boolean): string {
  const { config } = settings;
  const { uri } = config.mongodb;
  const { url: redisUrl } = config.redis;
  const rows = [
    ["Dashboard", url],
    ["API", url],
    ["Docs", `${url}/docs`],
    ...hookRows(settings, url),
    ...(config.hooks.gmail
      ? [["Gmail", `${config.hooks.gmail.account}; how it goes: signalbox webhooks gmail status`]]
      : []),
    ["Data", uri ? `in MongoDB at ${hostsOf(uri)}` : resolve(config.dataDir)],
    ["MongoDB", uri ? hostsOf(uri) : embedded("MONGODB_URI", "mongodb.uri")],
    ["Redis", redisUrl ? hostsOf(redisUrl) : embedded("REDIS_URL", "redis.url")],
    ["Stop", `Ctrl-C${watch ? " (source files are watched)" : ""}`],
  ];
  const lines = rows.map(([name = "", value]) => `  ${name.padEnd(10)}${value}`);
  return `\nSignalbox is ready.\n\n${lines.join("\n")}\n`;
}

function hookRows({ config, generatedToken }: Pick<Settings, "config" | "generatedToken">, url: string): string[][] {
  const { enabled, path } = config.hooks;
  if (!enabled) return [["Hooks", "off; to turn them on set hooks.enabled and hooks.token in signalbox.json5"]];
  const { runner, model } = config.agents.defaults;
  const echo =
    "echo, the embedded default, which only repeats what it is told; for a real one set agents.defaults.runner in signalbox.json5";
  return [
    ["Hooks", `POST ${url}${path}/agent`],
    ["Token", `Authorization: Bearer ${generatedToken ?? "… (the configured hooks.token)"}`],
    ["Agent", runner === "echo" ? echo : `${runner}${model ? `, ${model}` : ""}`],
  ];
}

const embedded = (variable: string, key: string) =>
  `embedded, the default; for a server of your own set ${variable}, or ${key} in signalbox.json5`;
