import { readConfig } from "../../../config/load.ts";
import { connectDatabase } from "../../../models/database.ts";
import { StartError } from "../../../shared/process/lifecycle.ts";
import { ownCommand } from "../../../shared/process/ownCommands.ts";

/**
 * `release`: what has to be done once for a version before its processes start.
 * @throws StartError when MongoDB is not configured or cannot be used
 */
export async function release(env: NodeJS.ProcessEnv): Promise<void> {
  const { uri } = readConfig(env).mongodb;
  if (!uri)
    throw new StartError(
      `MONGODB_URI is not set: set it to the MongoDB to prepare. \`${ownCommand("start")}\` prepares its embedded one by itself.`,
    );
  await prepareDatabase(uri);
  console.log("MongoDB is ready for this version.");
}

/**
 * Creates missing indexes and stores the format of documents. Safe to repeat and to interrupt.
 * @returns the version of MongoDB
 * @throws StartError when MongoDB cannot be used, or holds documents of another format
 */
export async function prepareDatabase(uri: string): Promise<string> {
  const database = await connectDatabase(uri, { answerTimeoutMs: 0 }); // An index of millions of documents takes its time.
  try {
    await database.prepare();
    const { version } = await database.readFacts();
    return version;
  } finally {
    await database.close();
  }
}
