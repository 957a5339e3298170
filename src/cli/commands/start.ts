import { join } from "node:path";
import { ConfigError } from "../../shared/config/load.ts";
import type { Config } from "../../shared/config/schema/config.ts";
import { runProcess } from "../../shared/lifecycle.ts";
import { ChildFailed, launchChild } from "../start/child.ts";
import { MONGOD_STOPS_WITHIN_MS } from "../start/embedded/mongod.ts";
import { REDIS_STOPS_WITHIN_MS } from "../start/embedded/redis.ts";
import { startServers } from "../start/embedded/servers.ts";
import { readSettings } from "../start/firstUse.ts";
import { OptionalChild } from "../start/optionalChild.ts";
import { followParent } from "../start/parent.ts";
import { summary } from "../start/summary.ts";
import { supervise } from "../start/supervised.ts";
import { watchSource } from "../start/watchSource.ts";

const SOURCE = join(import.meta.dirname, "..", "..");
/** What a process may need beyond the time it is configured to wait for work under way. */
const GRACE_MS = 5_000;

/**
 * `start`: everything on one machine. Servers that are not configured are started beside the service, then the indexes
 * are made, then web and worker run as processes of their own, and the Gmail listener where `hooks.gmail` is set. A stop
 * goes the way back: listener, web, worker, Redis, MongoDB.
 */
export function start(given: NodeJS.ProcessEnv, { watch }: { watch: boolean }): Promise<void> {
  return runProcess(async (lifecycle) => {
    followParent(given);
    const { config, env, madeToken } = readSettings(given);
    const webStopsMs = config.server.shutdownSeconds * 1_000 + GRACE_MS;
    const workerStopsMs = config.worker.shutdownSeconds * 1_000 + GRACE_MS;
    try {
      const { mongodbUri, redisUrl, instance } = await startServers(config, lifecycle);
      const { prepareDatabase } = await import("./release.ts"); // not before the servers are on their way
      await prepareDatabase(mongodbUri, config);

      console.log("Starting the API and the worker …");
      const childEnv: NodeJS.ProcessEnv = { ...env, MONGODB_URI: mongodbUri, REDIS_URL: redisUrl };
      const child = (name: string, script: string, stopsWithinMs: number, args: string[] = []) => {
        const options = { name, script: join(SOURCE, script), args, env: childEnv, stopsWithinMs, instance };
        return supervise({ name, launch: (signal) => launchChild(options, signal), revive: !watch }, lifecycle);
      };
      const worker = child("worker", "workers/main.ts", workerStopsMs);
      const web = child("web", "api/main.ts", webStopsMs);
      const listener = new OptionalChild(() =>
        child("Gmail listener", "cli/main.ts", workerStopsMs, ["webhooks", "gmail", "run"]),
      );
      lifecycle.onClose("instance", async () => instance?.stopping());
      const listening = listener.want(config.hooks.gmail !== undefined);
      const [{ url = "" }] = await Promise.all([web.start(), worker.start(), listening]);
      // started again, it keeps the free port that it took
      if (config.server.port === 0 && url) childEnv.PORT = new URL(url).port;
      instance?.ready(url);
      if (watch) {
        const restart = (file: string) => {
          console.log(`${file} changed: starting the API and the worker again …`);
          for (const one of [web, worker, listener]) void one.restart();
        };
        lifecycle.onClose("watch", watchSource(SOURCE, restart));
      }
      console.log(summary({ config, madeToken }, url, watch));
      /** The processes read the file themselves; one that is not usable is told here, and once. */
      const reload = async () => {
        let changed: Config;
        try {
          changed = readSettings(given).config;
        } catch (error) {
          if (!(error instanceof ConfigError)) throw error;
          return console.error(`${error.message}\nThe old configuration stays.`);
        }
        for (const one of [web, worker]) one.signal("SIGHUP");
        await listener.want(changed.hooks.gmail !== undefined).catch((error: Error) => {
          console.error(`The Gmail listener does not run: ${error.message}`);
        });
        console.log("The configuration is read again.");
      };
      return {
        reload,
        ready: { url },
        deadlineMs: webStopsMs + 2 * workerStopsMs + REDIS_STOPS_WITHIN_MS + MONGOD_STOPS_WITHIN_MS,
        onError: (name, error) => console.error(`${name} did not stop well: ${error}`),
      };
    } catch (error) {
      if (!(error instanceof ChildFailed)) throw error;
      await lifecycle.close(); // the process has told why
      process.exit(1);
    }
  });
}
