import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { connectDatabase } from "../models/db/database.ts";
import { openStores, type Stores } from "../models/stores.ts";
import type { Config } from "../shared/config/schema/config.ts";
import { StartError } from "../shared/lifecycle.ts";
import { findRunningInstance } from "./start/dataDirectoryLock.ts";

/**
 * Runs `act` with the stores of the configured MongoDB, or else of the embedded one of a service that runs here.
 * @throws StartError if MongoDB cannot be used
 */
export async function withStores<T>(config: Config, act: (stores: Stores) => Promise<T>): Promise<T> {
  const database = await connectDatabase(config.mongodb.uri ?? embeddedUri(config.dataDir));
  try {
    return await act(openStores(database, database.clock, config.jobs));
  } finally {
    await database.close();
  }
}

/** Returns the address of the embedded MongoDB of a running `signalbox start`; another process may use its port otherwise. */
function embeddedUri(dataDir: string): string {
  const dir = resolve(dataDir);
  try {
    const port = Number.parseInt(readFileSync(join(dir, "mongodb.port"), "utf8"), 10);
    if (findRunningInstance(dir)) return `mongodb://127.0.0.1:${port}/signalbox?directConnection=true`;
  } catch {
    // There is no file: `signalbox start` has never run here.
  }
  throw new StartError(
    `MONGODB_URI is not set, and no instance with an embedded MongoDB runs in ${dir}: start one with \`npm start\`, or set MONGODB_URI or SIGNALBOX_DATA_DIR.`,
  );
}
