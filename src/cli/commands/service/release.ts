import { connectDatabase } from "../../../models/db/database.ts";
import { migrateSearchKeys } from "../../../models/jobs/migrations/migrateSearchKeys.ts";
import { migrateSteps } from "../../../models/jobs/migrations/migrateSteps.ts";
import { migrateRunNames } from "../../../models/runs/migrateRunNames.ts";
import { migrateSessionOwners } from "../../../models/sessions/sessionOwners.ts";
import { mappingKey } from "../../../shared/config/checks/mappings.ts";
import { readConfig } from "../../../shared/config/load.ts";
import type { Config } from "../../../shared/config/schema/config.ts";
import { StartError } from "../../../shared/process/lifecycle.ts";
import { ownCommand } from "../../../shared/process/ownCommands.ts";
import { throttle } from "../../throttle.ts";

/**
 * `release`: what has to be done once for a version before its processes start.
 * @throws StartError when MongoDB is not configured or cannot be used
 */
export async function release(env: NodeJS.ProcessEnv): Promise<void> {
  const config = readConfig(env);
  const { uri } = config.mongodb;
  if (!uri)
    throw new StartError(
      `MONGODB_URI is not set: set it to the MongoDB to prepare. \`${ownCommand("start")}\` prepares its embedded one by itself.`,
    );
  await prepareDatabase(uri, config, (done, total) => console.log(`Migrated the steps of ${done} of ${total} jobs.`));
  console.log("MongoDB is ready for this version.");
}

type Progress = (done: number, total: number) => void;

/** How often progress is reported, in milliseconds. */
const PROGRESS_EVERY_MS = 5_000;

/**
 * Creates the indexes, rewrites what the search compares in jobs and runs of earlier versions, moves the steps of versions
 * before 2 into their jobs, and gives sessions of earlier versions their owner. Safe to repeat and to interrupt.
 * @returns the version of MongoDB
 * @param onProgress receives how many jobs have been migrated, every few seconds
 * @throws StartError when MongoDB cannot be used, or the steps of a job do not fit into its document
 */
export async function prepareDatabase(
  uri: string,
  config: Pick<Config, "hooks" | "jobs">,
  onProgress: Progress = () => {},
): Promise<string> {
  const database = await connectDatabase(uri, { answerTimeoutMs: 0 }); // millions of documents take their time
  const { sessions, runs, jobs, payloads } = database.collections;
  const report = throttle(onProgress, PROGRESS_EVERY_MS);
  try {
    await database.createIndexes();
    // Before the steps: processes refuse to start while these are where versions before 2 stored them.
    await migrateSearchKeys(jobs, payloads);
    await migrateRunNames(runs);
    await migrateSteps(jobs, payloads, {
      staleAfterSeconds: config.jobs.staleAfterSeconds,
      onProgress: report,
    });
    const named = config.hooks.mappings.map((mapping) => ({
      key: mappingKey(mapping),
      sessionKey: mapping.sessionKey,
    }));
    await migrateSessionOwners({ sessions: { collection: sessions }, runs: { collection: runs } }, named);
    const { version } = await database.readFacts();
    return version;
  } finally {
    report.cancel();
    await database.close();
  }
}
