import { resolve } from "node:path";
import type { Config } from "../shared/configSchema.ts";

/** What a person wants to know once everything runs. Shows hosts of configured servers, never their credentials. */
export function summary(config: Config, url: string, watch: boolean): string {
  const { uri } = config.mongodb;
  const { url: redisUrl } = config.redis;
  const rows = [
    ["API", url],
    ["Docs", `${url}/docs`],
    ["Data", uri ? `in MongoDB at ${hosts(uri)}` : resolve(config.dataDir)],
    ["MongoDB", uri ? hosts(uri) : embedded("MONGODB_URI", "mongodb.uri")],
    ["Redis", redisUrl ? hosts(redisUrl) : embedded("REDIS_URL", "redis.url")],
    ["Stop", `Ctrl-C${watch ? " (source files are watched)" : ""}`],
  ];
  const lines = rows.map(([name = "", value]) => `  ${name.padEnd(10)}${value}`);
  return `\nSignalbox is ready.\n\n${lines.join("\n")}\n`;
}

const embedded = (variable: string, key: string) =>
  `embedded, the default; for a server of your own set ${variable}, or ${key} in signalbox.json5`;

/** The hosts of a connection string. */
function hosts(uri: string): string {
  return uri
    .replace(/^[a-z+]+:\/\//, "")
    .replace(/^[^/]*@/, "")
    .replace(/[/?].*$/, "");
}
