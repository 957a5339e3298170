import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { connectDatabase } from "../../models/database.ts";
import { openStores, type Stores } from "../../models/stores.ts";
import { systemClock } from "../../shared/clock.ts";
import { readConfig } from "../../shared/config.ts";
import type { Config } from "../../shared/configSchema.ts";
import { CHANNELS } from "../../shared/configSession.ts";
import { StartError } from "../../shared/lifecycle.ts";

/**
 * `route show`: where replies of the main session go.
 * @throws StartError when MongoDB cannot be used
 */
export async function showRoute(env: NodeJS.ProcessEnv): Promise<void> {
  const config = readConfig(env);
  const kept = await withStores(config, ({ sessions }) => sessions.route());
  if (kept) console.log(`${kept.channel} ${kept.to}`);
  else if (config.session.main) console.log(`${config.session.main.channel} ${config.session.main.to} (session.main)`);
  else console.log("There is no route yet: set one with `signalbox route set CHANNEL TO`.");
}

/**
 * `route set CHANNEL TO`: sends replies of the main session there from now on.
 * @throws StartError when there is no such channel, or MongoDB cannot be used
 */
export async function setRoute(env: NodeJS.ProcessEnv, channel: string, to: string): Promise<void> {
  if (!CHANNELS.some((known) => known === channel)) {
    throw new StartError(`There is no channel ${channel}: take one of ${CHANNELS.join(", ")}.`);
  }
  if (to.trim() === "") throw new StartError("The recipient is empty: name it as the channel does.");
  await withStores(readConfig(env), ({ sessions }) => sessions.setRoute({ channel, to }));
  console.log(`Replies of the main session go to ${channel} ${to}.`);
}

async function withStores<T>(config: Config, act: (stores: Stores) => Promise<T>): Promise<T> {
  const database = await connectDatabase(config.mongodb.uri ?? embeddedUri(config.dataDir));
  try {
    return await act(openStores(database, systemClock, config.jobs));
  } finally {
    await database.close();
  }
}

/** The MongoDB that `signalbox start` runs beside itself. */
function embeddedUri(dataDir: string): string {
  try {
    const port = Number.parseInt(readFileSync(join(resolve(dataDir), "mongodb.port"), "utf8"), 10);
    return `mongodb://127.0.0.1:${port}/signalbox?directConnection=true`;
  } catch {
    throw new StartError("MONGODB_URI is not set, and no embedded MongoDB has run here: start Signalbox first.");
  }
}
