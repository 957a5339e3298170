import { resolve } from "node:path";
import { readConfig } from "../../../shared/config/load.ts";
import { StartError } from "../../../shared/process/lifecycle.ts";
import { findRunningInstance } from "../../start/dataDirectoryLock.ts";

/**
 * `reload`: makes the instance of the configured data directory read its configuration again, as SIGHUP does. The process of
 * `npm start` is npm's, which a SIGHUP ends.
 * @throws ConfigError if the configuration is invalid; StartError if no instance runs there
 */
export function reload(env: NodeJS.ProcessEnv): void {
  const dataDir = resolve(readConfig(env).dataDir);
  const instance = findRunningInstance(dataDir);
  if (!instance) {
    throw new StartError(
      `No instance with an embedded server runs in ${dataDir}: set SIGNALBOX_DATA_DIR to its data directory, or send SIGHUP to each Signalbox process with \`kill -HUP\`.`,
    );
  }
  process.kill(instance.pid, "SIGHUP");
  console.log(
    `The instance${instance.url ? ` at ${instance.url}` : ""} (process ${instance.pid}) reads its configuration again.`,
  );
}
