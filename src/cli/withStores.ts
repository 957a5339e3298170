import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { connectDatabase } from "../models/db/database.ts";
import { openStores, type Stores } from "../models/stores.ts";
import type { Config } from "../shared/config/schema/config.ts";
import { StartError } from "../shared/lifecycle.ts";
import { findRunningInstance } from "./start/dataDirectoryLock.ts";

/**
 * Lets a command look into the configured MongoDB, or else into the embedded one of a service that runs here.
 * @throws StartError when it cannot be used
 */
export async function withStores<T>(config: Config, act: (stores: Stores) => Promise<T>): Promise<T> {
  const database = await connectDatabase(config.mongodb.uri ?? embeddedUri(config.dataDir));
  try {
    return await act(openStores(database, database.clock, config.jobs));
  } finally {
    await database.close();
  }
}

/** The MongoDB that `signalbox start` runs beside itself: while that runs, for a port alone may be anybody's. */
function embeddedUri(dataDir: string): string {
  const dir = resolve(dataDir);
  try {
    const port = Number.parseInt(readFileSync(join(dir, "mongodb.port"), "utf8"), 10);
    if (findRunningInstance(dir)) return `mongodb://127.0.0.1:${port}/signalbox?directConnection=true`;
  } catch {
    // it has never run here
  }
  throw new StartError(
    `MONGODB_URI is not set, and no Signalbox with an embedded MongoDB runs in ${dir}: start it with \`npm start\`, or set MONGODB_URI or SIGNALBOX_DATA_DIR.`,
  );
}
