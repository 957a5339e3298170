import type { Config } from "../../config/config.ts";
import { redisAddress } from "../../config/load.ts";
import { hostsOf } from "../../shared/address.ts";
import { createLogger } from "../../shared/logger.ts";
import { connectProducer, readServerFacts } from "../../shared/queue/redis.ts";
import { type Finding, fail, ok, warn } from "./finding.ts";

/** The first version that BullMQ works with, and the first one that it recommends (docs.bullmq.io, Compatibility). */
const [FIRST_USABLE, FIRST_RECOMMENDED] = [5.0, 6.2];

/** Checks Redis: its version and its eviction policy. @throws StartError when it cannot be used */
export async function checkRedis(config: Config): Promise<Finding[]> {
  const address = redisAddress(config.redis);
  if (!address) return [ok("Redis is the embedded one.")];
  const redis = await connectProducer(address, createLogger({ level: "silent", name: "doctor", pretty: false }));
  try {
    const { version, evictionPolicy } = await readServerFacts(redis);
    return [
      ok(`Redis ${version ? `${version} ` : ""}answers at ${hostsOf(address.url)}.`),
      ...checkVersion(version),
      ...(evictionPolicy === undefined || evictionPolicy === "noeviction"
        ? []
        : [
            fail(
              `Redis may delete queued work when its memory is full (maxmemory-policy ${evictionPolicy}): set maxmemory-policy noeviction.`,
            ),
          ]),
    ];
  } finally {
    redis.disconnect();
  }
}

function checkVersion(version: string | undefined): Finding[] {
  const found = Number.parseFloat(version ?? "");
  if (found < FIRST_USABLE) return [fail(`The queues do not work with Redis ${version}: use Redis 6.2 or later.`)];
  if (found < FIRST_RECOMMENDED) return [warn(`Redis ${version} is too old for the queues: use Redis 6.2 or later.`)];
  return [];
}
