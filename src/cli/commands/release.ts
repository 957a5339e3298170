import { connectDatabase } from "../../models/database.ts";
import { readConfig } from "../../shared/config.ts";
import { StartError } from "../../shared/lifecycle.ts";

/**
 * `release`: what has to be done once for a version before its processes start.
 * @throws StartError when MongoDB is not configured or cannot be used
 */
export async function release(env: NodeJS.ProcessEnv): Promise<void> {
  const { uri } = readConfig(env).mongodb;
  if (!uri) throw new StartError("MONGODB_URI is not set: name the MongoDB to prepare (`npm start` prepares its own).");
  await makeIndexes(uri);
  console.log("The indexes are there.");
}

/** @throws StartError when MongoDB cannot be used */
export async function makeIndexes(uri: string): Promise<void> {
  const database = await connectDatabase(uri, { answerTimeoutMs: 0 }); // millions of documents take their time
  try {
    await database.createIndexes();
  } finally {
    await database.close();
  }
}
