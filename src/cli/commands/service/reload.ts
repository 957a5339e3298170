import { statSync } from "node:fs";
import { resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { readConfig } from "../../../config/load.ts";
import { StartError } from "../../../shared/process/lifecycle.ts";
import { type Define, withExamples } from "../../command.ts";
import { findRunningInstance } from "../../start/dataDirectoryLock.ts";

const POLL_MS = 50;
/** Longer than a process may take to read its configuration. */
const WAIT_MS = 40_000;

/**
 * `reload`: makes the instance of the configured data directory read its configuration again, as SIGHUP does, and waits for the
 * outcome. The process of `npm start` is npm's, which a SIGHUP ends.
 */
export const reload: Define = (command, environment) =>
  withExamples(command, "signalbox reload").action(async () => {
    const dataDir = resolve(readConfig(await environment()).dataDir);
    const instance = findRunningInstance(dataDir);
    if (!instance) {
      throw new StartError(
        `No instance with an embedded server runs in ${dataDir}: set SIGNALBOX_DATA_DIR to its data directory, or send SIGHUP to each Signalbox process with \`kill -HUP\`.`,
      );
    }
    const name = `The instance${instance.url ? ` at ${instance.url}` : ""} (process ${instance.pid})`;
    process.kill(instance.pid, "SIGHUP");
    const outcome = await nextReload(dataDir, instance.reloaded?.count ?? 0);
    const hint = isChangedSince(".env", instance.startedAt)
      ? "\n.env has changed since the start, and its variables are read at the start only: restart the service to apply them."
      : "";
    if (!outcome) throw new StartError(`${name} has not answered: see its log with \`signalbox logs\`.${hint}`);
    if (outcome.problem !== undefined)
      throw new StartError(`${outcome.problem}\n${name} keeps its previous configuration.${hint}`);
    console.log(`The changed configuration is in effect. ${name} has read it.${hint}`);
  });

/** Returns the outcome of the reload after the first `count`; undefined if the instance ends or does not answer in time. */
async function nextReload(dataDir: string, count: number) {
  for (const since = performance.now(); performance.now() - since < WAIT_MS; await delay(POLL_MS)) {
    const instance = findRunningInstance(dataDir);
    if (!instance) return undefined;
    if ((instance.reloaded?.count ?? 0) > count) return instance.reloaded;
  }
  return undefined;
}

function isChangedSince(file: string, time: string): boolean {
  return (statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0) > Date.parse(time);
}
