import { resolve } from "node:path";
import type { Config } from "../../config/config.ts";
import { connectDatabase } from "../../models/database.ts";
import { hostsOf } from "../../shared/address.ts";
import { StartError } from "../../shared/process/lifecycle.ts";
import { endOfLife } from "../../shared/process/version.ts";
import { findRunningInstance } from "../start/dataDirectoryLock.ts";
import { embeddedUri } from "../withStores.ts";
import { type Finding, fail, ok, warn } from "./finding.ts";
import { describeSpace, spaceFault } from "./freeSpace.ts";

/** Maximum difference between the clocks of this machine and of MongoDB. */
const MAX_SKEW_MS = 5_000;

/** Checks MongoDB: the space on its disk, its version, the indexes and its clock. @throws StartError when it cannot be used */
export async function checkMongoDb(config: Config): Promise<Finding[]> {
  const { uri } = config.mongodb;
  const dataDir = resolve(config.dataDir);
  const full = uri ? null : spaceFault(dataDir);
  const space = full === null ? [] : [fail(full)];
  if (!uri && !findRunningInstance(dataDir)) {
    return [...space, ok("MongoDB is the embedded one, which does not run now: start it with signalbox start.")];
  }
  try {
    return [...space, ...(await examine(uri ?? embeddedUri(dataDir), uri !== undefined))];
  } catch (error) {
    // A full disk has ended the embedded MongoDB.
    if (error instanceof StartError && full !== null) return space;
    throw error;
  }
}

async function examine(uri: string, isOwn: boolean): Promise<Finding[]> {
  const database = await connectDatabase(uri);
  try {
    const { version, localTime } = await database.readFacts();
    const skewMs = Math.abs(localTime.getTime() - Date.now());
    const outdated = endOfLife(version);
    const disk = isOwn ? await database.readDiskSpace().catch(() => null) : null;
    const full = disk && describeSpace("The disk of MongoDB", "free some there", disk);
    const problem = await database.checkPrepared().catch((error: Error) => error);
    return [
      ok(`MongoDB ${version} answers${isOwn ? ` at ${hostsOf(uri)}` : ""}.`),
      ...(outdated ? [warn(`${outdated}${isOwn ? "" : ", and set MONGODB_URI"}.`)] : []),
      ...(full === null ? [] : [fail(full)]),
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
}
