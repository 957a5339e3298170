import { dirname, resolve } from "node:path";
import { parseEnv } from "node:util";
import { Ajv } from "ajv";
import JSON5 from "json5";
import { isObject } from "../json.ts";
import { StartError } from "../lifecycle.ts";
import type { RedisAddress } from "../queue/redisAddress.ts";
import { readTextFile } from "../textFile.ts";
import { crossChecks } from "./checks/config.ts";
import { findDuplicateKeys } from "./duplicateKeys.ts";
import { applyEnvironment, type Environment, type Json, substitute } from "./fill.ts";
import { explain, faultyKey } from "./problems.ts";
import { type Config, ConfigSchema } from "./schema/config.ts";

/** An unusable configuration. `problems` has one sentence for each fault. */
export class ConfigError extends StartError {
  readonly problems: readonly string[];

  constructor(source: string, problems: readonly string[]) {
    super(`The configuration (${source}) is not usable:\n${problems.map((problem) => `  - ${problem}`).join("\n")}`);
    this.problems = problems;
  }
}

const validate = new Ajv({ allErrors: true, useDefaults: true, strict: false, verbose: true }).compile(ConfigSchema);

/**
 * Adds the variables of a file `.env` in the working directory to the environment, whose own variables take precedence. The
 * file may be absent.
 * @throws StartError when it cannot be read
 */
export function loadDotEnv(env: NodeJS.ProcessEnv): void {
  try {
    for (const [name, value] of Object.entries(parseEnv(readTextFile(".env")))) env[name] ??= value;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "ENOENT") throw new StartError(`The file .env cannot be read (${code}): correct or remove it.`);
  }
}

/** Returns the path of the configuration file: `SIGNALBOX_CONFIG`, by default `signalbox.json5` in the working directory. */
export const configPath = (env: Environment): string => resolve(env.SIGNALBOX_CONFIG || "signalbox.json5");

/**
 * Reads the configuration file; undefined when there is none and `SIGNALBOX_CONFIG` is not set.
 * @throws ConfigError when it cannot be read
 */
export function configFile(env: Environment): { readonly path: string; readonly text: string } | undefined {
  const path = configPath(env);
  try {
    return { path, text: readTextFile(path) };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "ENOENT") throw new ConfigError(path, [`the file cannot be read (${code})`]);
    if (env.SIGNALBOX_CONFIG) throw new ConfigError(path, ["SIGNALBOX_CONFIG names a file that does not exist"]);
    return undefined;
  }
}

/**
 * Reads the configuration file, which may be absent, and the environment.
 * @throws ConfigError naming every problem at once
 */
export function readConfig(env: Environment): Config {
  const file = configFile(env);
  return parseConfig(file?.text, file ? env : withGeneratedToken(env), file?.path);
}

/** The variable in which `start` passes its processes the generated hook token. It is ignored when a file exists. */
export const GENERATED_HOOKS_TOKEN = "SIGNALBOX_MADE_HOOKS_TOKEN";

const withGeneratedToken = (env: Environment): Environment =>
  env[GENERATED_HOOKS_TOKEN]
    ? { SIGNALBOX_HOOKS_ENABLED: "true", SIGNALBOX_HOOKS_TOKEN: env[GENERATED_HOOKS_TOKEN], ...env }
    : env;

/**
 * Turns a configuration file's text (JSON5, or undefined for none) and the environment into a frozen, checked value.
 * @param path the file's path, to which other paths are relative; without it they are relative to the working directory
 * @throws ConfigError naming every problem at once
 */
export function parseConfig(text: string | undefined, env: Environment, path?: string): Config {
  const source = path ?? "environment";
  const { value, missing } = substitute(parseFile(text, source), env);
  const duplicates = findDuplicateKeys(text ?? "");
  applyEnvironment(value, env);
  const errors = validate(value) ? [] : (validate.errors ?? []);
  const faulty = [...missing.map(({ key }) => key), ...errors.map(faultyKey)];
  // Only the first fault of a key is reported: an empty text, for example, violates its pattern too.
  const reported = errors.filter((error, i) => faulty.indexOf(faultyKey(error)) === missing.length + i);
  const config = withAbsolutePaths(value as unknown as Config, path);
  const problems = [
    ...duplicates.map(
      ({ key, lines }) =>
        `${key} is written twice (${lines}), and only the last one would be used: keep one, or merge them`,
    ),
    ...missing.map(({ key, name }) => `${key}: the environment variable ${name} is not set`),
    ...reported.map((error) => explain(error, env)),
    ...crossChecks(config, [...faulty, ...duplicates.map(({ key }) => key)]),
  ];
  if (problems.length > 0) throw new ConfigError(source, problems);
  return deepFreeze(config);
}

/** Returns a configuration with absolute paths in place of those that are relative to the file. */
function withAbsolutePaths(config: Config, path: string | undefined): Config {
  const { hooks } = config;
  const base = path === undefined ? process.cwd() : dirname(path);
  if (!isObject(hooks)) return config; // the schema has reported the fault
  const { transformsDir = "hooks/transforms", gmail } = hooks;
  const at = <T>(path: T) => (typeof path === "string" ? resolve(base, path) : path);
  const file = isObject(gmail) && { gmail: { ...gmail, credentialsFile: at(gmail.credentialsFile) } };
  return { ...config, hooks: { ...hooks, transformsDir: at(transformsDir), ...file } } as Config;
}

/** Parses a configuration file without filling in variables or defaults. @throws ConfigError */
export function parseFile(text: string | undefined, source: string): Json {
  if (text === undefined) return {};
  let value: unknown;
  try {
    value = JSON5.parse(text);
  } catch (error) {
    throw new ConfigError(source, [`it is not valid JSON5 (${(error as Error).message.replace(/^JSON5: /, "")})`]);
  }
  if (isObject(value)) return value;
  throw new ConfigError(source, ["it must contain one object: { … }"]);
}

/**
 * Returns the addresses of MongoDB and Redis for a process that was not started by `start`.
 * @throws StartError when one is not configured
 */
export function requireServers({ mongodb, redis }: Config): { mongodbUri: string; redisAddress: RedisAddress } {
  const { url, cluster } = redis;
  if (mongodb.uri && url) return { mongodbUri: mongodb.uri, redisAddress: { url, cluster } };
  const missing = mongodb.uri ? "REDIS_URL (redis.url)" : "MONGODB_URI (mongodb.uri)";
  throw new StartError(`${missing} is not set: set it, or use \`npm start\`, which brings its own servers.`);
}

function deepFreeze<T>(value: T): T {
  if (typeof value === "object" && value !== null) {
    for (const item of Object.values(value)) deepFreeze(item);
    Object.freeze(value);
  }
  return value;
}
