import type { Config } from "../../../config/config.ts";
import { ConfigError, readConfig } from "../../../config/load.ts";
import { StartError } from "../../../shared/process/lifecycle.ts";
import { checkFiles } from "../../doctor/checkFiles.ts";
import { checkMongoDb } from "../../doctor/checkMongoDb.ts";
import { checkRedis } from "../../doctor/checkRedis.ts";
import { checkService } from "../../doctor/checkService.ts";
import { type Finding, fail } from "../../doctor/finding.ts";
import { CommandError } from "../../exit.ts";
import { cleanLine } from "../../terminal/cleanText.ts";

/**
 * `doctor`: checks the configuration, the files, MongoDB, Redis and the service, and prints a line for each.
 * @returns whether none of them fails
 */
export async function doctor(env: NodeJS.ProcessEnv): Promise<boolean> {
  const findings = await examine(env);
  for (const { kind, text } of findings) console.log(`${kind.padEnd(4)}  ${cleanLine(text)}`);
  return findings.every(({ kind }) => kind !== "FAIL");
}

async function examine(env: NodeJS.ProcessEnv): Promise<Finding[]> {
  let config: Config;
  try {
    config = readConfig(env);
  } catch (error) {
    if (!(error instanceof ConfigError)) return failed(error);
    return error.problems.map((problem) => fail(`The configuration (${error.source}) is not usable: ${problem}.`));
  }
  const checks = [checkMongoDb(config), checkRedis(config), checkService(env, config)];
  const found = await Promise.all(checks.map((check) => check.catch(failed)));
  return [...checkFiles(env, config), ...found.flat()];
}

function failed(error: unknown): Finding[] {
  if (error instanceof StartError || error instanceof CommandError) return [fail(error.message)];
  throw error;
}
