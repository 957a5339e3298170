import { resolve } from "node:path";
import { connectDatabase } from "../../models/db/database.ts";
import { hostsOf } from "../../shared/address.ts";
import type { Config } from "../../shared/config/schema/config.ts";
import { endOfLife } from "../../shared/mongodbVersion.ts";
import { findRunningInstance } from "../start/dataDirectoryLock.ts";
import { embeddedUri } from "../withStores.ts";
import { type Finding, fail, ok, warn } from "./finding.ts";

/** Maximum difference between the clocks of this machine and of MongoDB. */
const MAX_SKEW_MS = 5_000;

/** Checks MongoDB: its version, the indexes and its clock. @throws StartError when it cannot be used */
export async function checkMongoDb(config: Config): Promise<Finding[]> {
  const { uri } = config.mongodb;
  if (!uri && !findRunningInstance(resolve(config.dataDir))) {
    return [ok("MongoDB is the embedded one, which does not run now: start it with signalbox start.")];
  }
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
}
