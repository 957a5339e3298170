import { statSync } from "node:fs";
import { resolve } from "node:path";
import type { Config } from "../../../config/config.ts";
import { ConfigError, configFile, readConfig } from "../../../config/load.ts";
import { StartError } from "../../../shared/process/lifecycle.ts";
import { type Define, withExamples } from "../../command.ts";
import { checkMongoDb } from "../../doctor/checkMongoDb.ts";
import { checkOidc } from "../../doctor/checkOidc.ts";
import { checkRedis } from "../../doctor/checkRedis.ts";
import { checkService } from "../../doctor/checkService.ts";
import { type Finding, fail, ok, warn } from "../../doctor/finding.ts";
import { CommandError, EXIT } from "../../exit.ts";
import { cleanLine } from "../../terminal/cleanText.ts";

/** `doctor`: checks the configuration, the files, MongoDB, Redis and the service, and prints a line for each. */
export const doctor: Define = (command, environment) =>
  withExamples(command, "signalbox doctor").action(async () => {
    const findings = await examine(await environment());
    for (const { kind, text } of findings) console.log(`${kind.padEnd(4)}  ${cleanLine(text)}`);
    if (findings.some(({ kind }) => kind === "FAIL")) process.exitCode = EXIT.failed;
  });

async function examine(env: NodeJS.ProcessEnv): Promise<Finding[]> {
  let config: Config;
  try {
    config = readConfig(env);
  } catch (error) {
    if (!(error instanceof ConfigError)) return failed(error);
    return error.problems.map((problem) => fail(`The configuration (${error.source}) is not usable: ${problem}.`));
  }
  const checks = [checkMongoDb(config), checkRedis(config), checkService(env, config), checkOidc(config)];
  const found = await Promise.all(checks.map((check) => check.catch(failed)));
  return [...checkFiles(env, config), ...found.flat()];
}

function failed(error: unknown): Finding[] {
  if (error instanceof StartError || error instanceof CommandError) return [fail(error.message)];
  throw error;
}

/** Checks that the files that hold secrets or data belong to their owner alone. */
export function checkFiles(env: NodeJS.ProcessEnv, config: Config): Finding[] {
  const file = configFile(env);
  const credentials = config.hooks.gmail?.credentialsFile;
  const paths = [
    ...[file?.path, resolve(".env"), credentials].flatMap((path) => (path ? [{ path, mode: "600" }] : [])),
    { path: resolve(config.dataDir), mode: "700" },
  ];
  const rights = paths.flatMap(({ path, mode }) => {
    const found = statSync(path, { throwIfNoEntry: false });
    if (!found || (found.mode & 0o077) === 0) return [];
    return [warn(`${path} can be read by other users of this machine: chmod ${mode} ${path}`)];
  });
  return [ok(`The configuration (${file?.path ?? "environment and defaults"}) is valid.`), ...rights];
}
