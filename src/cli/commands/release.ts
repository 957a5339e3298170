import { ownSessions } from "../../models/commands/sessionOwners.ts";
import { connectDatabase } from "../../models/database.ts";
import { readConfig } from "../../shared/config.ts";
import { mappingKey } from "../../shared/configMappingChecks.ts";
import type { Config } from "../../shared/configSchema.ts";
import { StartError } from "../../shared/lifecycle.ts";

/**
 * `release`: what has to be done once for a version before its processes start.
 * @throws StartError when MongoDB is not configured or cannot be used
 */
export async function release(env: NodeJS.ProcessEnv): Promise<void> {
  const config = readConfig(env);
  const { uri } = config.mongodb;
  if (!uri) throw new StartError("MONGODB_URI is not set: name the MongoDB to prepare (`npm start` prepares its own).");
  await prepareDatabase(uri, config.hooks.mappings);
  console.log("The indexes are there.");
}

/**
 * Creates the indexes, and gives sessions of earlier versions their owner.
 * @throws StartError when MongoDB cannot be used
 */
export async function prepareDatabase(uri: string, mappings: Config["hooks"]["mappings"] = []): Promise<void> {
  const database = await connectDatabase(uri, { answerTimeoutMs: 0 }); // millions of documents take their time
  const { sessions, runs } = database.collections;
  try {
    await database.createIndexes();
    const named = mappings.map((mapping) => ({ key: mappingKey(mapping), sessionKey: mapping.sessionKey }));
    await ownSessions({ sessions: { collection: sessions }, runs: { collection: runs } }, named);
  } finally {
    await database.close();
  }
}
