import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Config } from "../config/config.ts";
import { connectDatabase, type Database } from "../models/database.ts";
import { openStores, type Stores, storeSettings } from "../models/stores.ts";
import { Lifecycle, StartError } from "../shared/process/lifecycle.ts";
import { ownCommand } from "../shared/process/ownCommands.ts";
import { DataDirectoryLock, findRunningInstance } from "./start/dataDirectoryLock.ts";

/**
 * Runs `act` with the stores of the configured MongoDB, or else of the embedded one of a service that runs here.
 * @throws StartError if MongoDB cannot be used
 */
export async function withStores<T>(config: Config, act: (stores: Stores) => Promise<T>): Promise<T> {
  return connected(config.mongodb.uri ?? embeddedUri(config.dataDir), (database) =>
    act(openStores(database, database.clock, storeSettings(config))),
  );
}

/**
 * Runs `act` with the configured MongoDB, or else with the embedded one, which is started for the time if no service runs here.
 * @throws StartError if MongoDB cannot be used
 */
export async function withDatabase<T>(
  config: Config,
  act: (database: Database, uri: string) => Promise<T>,
): Promise<T> {
  const dataDir = resolve(config.dataDir);
  if (config.mongodb.uri || findRunningInstance(dataDir)) {
    const uri = config.mongodb.uri ?? embeddedUri(dataDir);
    return connected(uri, (database) => act(database, uri), 0);
  }
  const { startMongod } = await import("./start/embedded/servers.ts");
  const lifecycle = new Lifecycle();
  try {
    const uri = await startMongod(await DataDirectoryLock.acquire(dataDir), lifecycle);
    return await connected(uri, (database) => act(database, uri), 0);
  } finally {
    await lifecycle.close();
  }
}

/** @param answerTimeoutMs maximum silence of MongoDB during one operation; 0 for no limit */
async function connected<T>(
  uri: string,
  act: (database: Database) => Promise<T>,
  answerTimeoutMs?: number,
): Promise<T> {
  const database = await connectDatabase(uri, answerTimeoutMs === undefined ? {} : { answerTimeoutMs });
  try {
    return await act(database);
  } finally {
    await database.close();
  }
}

/** Returns the address of the embedded MongoDB of a running `signalbox start`; another process may use its port otherwise. */
export function embeddedUri(dataDir: string): string {
  const dir = resolve(dataDir);
  try {
    const port = Number.parseInt(readFileSync(join(dir, "mongodb.port"), "utf8"), 10);
    if (findRunningInstance(dir)) return `mongodb://127.0.0.1:${port}/signalbox?directConnection=true`;
  } catch {
    // There is no file: `signalbox start` has never run here.
  }
  throw new StartError(
    `MONGODB_URI is not set, and no instance with an embedded MongoDB runs in ${dir}: start one with \`${ownCommand("start")}\`, or set MONGODB_URI or SIGNALBOX_DATA_DIR.`,
  );
}
