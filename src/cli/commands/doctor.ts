import { statSync } from "node:fs";
import { resolve } from "node:path";
import { connectDatabase } from "../../models/db/database.ts";
import { hostsOf } from "../../shared/address.ts";
import { configFile, readConfig, redisAddress } from "../../shared/config/load.ts";
import type { Config } from "../../shared/config/schema/config.ts";
import { StartError } from "../../shared/lifecycle.ts";
import { createLogger } from "../../shared/logger.ts";
import { endOfLife } from "../../shared/mongodbVersion.ts";
import { connectProducer, readServerFacts } from "../../shared/queue/redis.ts";
import { configuredUrl } from "../service.ts";
import { findRunningInstance } from "../start/dataDirectoryLock.ts";
import { cleanLine } from "../terminal/cleanText.ts";
import { embeddedUri } from "../withStores.ts";

/** The result of one check: what was found and, unless it is good, what to do. */
interface Finding {
  readonly kind: "ok" | "warn" | "FAIL";
  readonly text: string;
}

const ok = (text: string): Finding => ({ kind: "ok", text });
const warn = (text: string): Finding => ({ kind: "warn", text });
const fail = (text: string): Finding => ({ kind: "FAIL", text });

/** Maximum difference between the clocks of this machine and of MongoDB. */
const MAX_SKEW_MS = 5_000;
const ANSWER_WITHIN_MS = 5_000;

/**
 * `doctor`: checks the configuration, the files, MongoDB, Redis and the service, and prints a line for each.
 * @returns whether none of them fails
 */
export async function doctor(env: NodeJS.ProcessEnv): Promise<boolean> {
  const print = (findings: readonly Finding[]) => {
    for (const { kind, text } of findings) console.log(`${kind.padEnd(4)}  ${cleanLine(text)}`);
    return findings.every(({ kind }) => kind !== "FAIL");
  };
  let config: Config;
  try {
    config = readConfig(env);
  } catch (error) {
    if (!(error instanceof StartError)) throw error;
    return print([fail(error.message)]);
  }
  const checks = [
    checkFiles(env, config),
    await checkMongoDb(config),
    await checkRedis(config),
    await checkService(config),
  ];
  return checks.map(print).every(Boolean);
}

/** The files that hold secrets or data must belong to their owner alone. */
function checkFiles(env: NodeJS.ProcessEnv, config: Config): Finding[] {
  const file = configFile(env);
  const paths = [
    ...(file ? [{ path: file.path, mode: "600" }] : []),
    ...(config.mongodb.uri && config.redis.url ? [] : [{ path: resolve(config.dataDir), mode: "700" }]),
  ];
  const rights = paths.flatMap(({ path, mode }) => {
    const found = statSync(path, { throwIfNoEntry: false });
    if (!found || (found.mode & 0o077) === 0) return [];
    return [warn(`${path} can be read by other users of this machine: chmod ${mode} ${path}`)];
  });
  return [ok(`The configuration (${file?.path ?? "environment and defaults"}) is valid.`), ...rights];
}

async function checkMongoDb(config: Config): Promise<Finding[]> {
  const { uri } = config.mongodb;
  if (!uri && !findRunningInstance(resolve(config.dataDir))) {
    return [ok("MongoDB is the embedded one, which does not run now: start it with signalbox start.")];
  }
  try {
    const database = await connectDatabase(uri ?? embeddedUri(config.dataDir));
    try {
      const { version, localTime } = await database.readFacts();
      const skewMs = Math.abs(localTime.getTime() - Date.now());
      const outdated = endOfLife(version);
      const problem = await database.checkPrepared().catch((error: Error) => error);
      return [
        ok(`MongoDB ${version} answers${uri ? ` at ${hostsOf(uri)}` : ""}.`),
        ...(outdated ? [warn(`${outdated}${uri ? "" : ", and set MONGODB_URI"}.`)] : []),
        problem ? fail(problem.message) : ok("The indexes of this version exist."),
        skewMs > MAX_SKEW_MS
          ? warn(
              `The clocks of this machine and of MongoDB differ by ${Math.round(skewMs / 1_000)} s: synchronize them by NTP.`,
            )
          : ok("The clocks of this machine and of MongoDB agree."),
      ];
    } finally {
      await database.close();
    }
  } catch (error) {
    return [failed(error)];
  }
}

async function checkRedis(config: Config): Promise<Finding[]> {
  try {
    const address = redisAddress(config.redis);
    if (!address) return [ok("Redis is the embedded one.")];
    const redis = await connectProducer(address, createLogger({ level: "silent", name: "doctor", pretty: false }));
    try {
      const { version, evictionPolicy } = await readServerFacts(redis);
      return [
        ok(`Redis ${version ?? ""} answers at ${hostsOf(address.url)}.`),
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
  } catch (error) {
    return [failed(error)];
  }
}

/** Checks the service at the configured address, if it runs. */
async function checkService({ server, dataDir }: Config): Promise<Finding[]> {
  const url = findRunningInstance(resolve(dataDir))?.url ?? configuredUrl(server);
  try {
    const response = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(ANSWER_WITHIN_MS) });
    if (response.ok) return [ok(`The service answers at ${url} and is ready.`)];
    return [fail(`The service at ${url} is not ready (${response.status}): ${url}/readyz says what is missing.`)];
  } catch {
    return [warn(`No service answers at ${url}: start it with signalbox start.`)];
  }
}

function failed(error: unknown): Finding {
  if (error instanceof StartError) return fail(error.message);
  throw error;
}
