import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { Ajv } from "ajv";
import JSON5 from "json5";
import { isObject } from "../json.ts";
import { StartError } from "../lifecycle.ts";
import type { RedisAddress } from "../queue/redisAddress.ts";
import { crossChecks } from "./checks/config.ts";
import { applyEnvironment, type Environment, type Json, substitute } from "./fill.ts";
import { explain, faultyKey } from "./problems.ts";
import { type Config, ConfigSchema } from "./schema/config.ts";

/** The configuration is not usable. `problems` has one sentence for each fault, and all of them. */
export class ConfigError extends StartError {
  readonly problems: readonly string[];

  constructor(source: string, problems: readonly string[]) {
    super(`The configuration (${source}) is not usable:\n${problems.map((problem) => `  - ${problem}`).join("\n")}`);
    this.problems = problems;
  }
}

const validate = new Ajv({ allErrors: true, useDefaults: true, strict: false, verbose: true }).compile(ConfigSchema);

/** Adds what a file `.env` in the working directory sets to the environment, which wins. The file may be absent. */
export function loadDotEnv(): void {
  try {
    process.loadEnvFile();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "ENOENT") throw new StartError(`The file .env cannot be read (${code}): correct or remove it.`);
  }
}

/** Where the configuration file is, or would be: `SIGNALBOX_CONFIG`, by default `signalbox.json5` in the working directory. */
export const configPath = (env: Environment): string => resolve(env.SIGNALBOX_CONFIG || "signalbox.json5");

/**
 * The configuration file; undefined when there is none and `SIGNALBOX_CONFIG` asks for none.
 * @throws ConfigError when it cannot be read
 */
export function configFile(env: Environment): { readonly path: string; readonly text: string } | undefined {
  const path = configPath(env);
  try {
    return { path, text: readFileSync(path, "utf8") };
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

/** The variable in which `start` tells its processes the hook token that it made: it counts while there is no file. */
export const GENERATED_HOOKS_TOKEN = "SIGNALBOX_MADE_HOOKS_TOKEN";

const withGeneratedToken = (env: Environment): Environment =>
  env[GENERATED_HOOKS_TOKEN]
    ? { SIGNALBOX_HOOKS_ENABLED: "true", SIGNALBOX_HOOKS_TOKEN: env[GENERATED_HOOKS_TOKEN], ...env }
    : env;

/**
 * Turns a configuration file's text (JSON5, or undefined for none) and the environment into a frozen, checked value.
 * @param path where the file is, for what is relative to it; the working directory where there is none
 * @throws ConfigError naming every problem at once
 */
export function parseConfig(text: string | undefined, env: Environment, path?: string): Config {
  const source = path ?? "environment";
  const { value, missing } = substitute(parseFile(text, source), env);
  applyEnvironment(value, env);
  const errors = validate(value) ? [] : (validate.errors ?? []);
  const faulty = [...missing.map(({ key }) => key), ...errors.map(faultyKey)];
  // the first fault of a key is told: an empty text, say, also does not look like what it should
  const told = errors.filter((error, i) => faulty.indexOf(faultyKey(error)) === missing.length + i);
  const config = placed(value as unknown as Config, path);
  const problems = [
    ...missing.map(({ key, name }) => `${key}: the environment variable ${name} is not set`),
    ...told.map((error) => explain(error, env)),
    ...crossChecks(config, faulty),
  ];
  if (problems.length > 0) throw new ConfigError(source, problems);
  return deepFreeze(config);
}

/** With a path that is relative to the configuration file made absolute. */
function placed(config: Config, path: string | undefined): Config {
  const { hooks } = config;
  const base = path === undefined ? process.cwd() : dirname(path);
  if (!isObject(hooks)) return config; // what is wrong is told
  const { transformsDir = "hooks/transforms", gmail } = hooks;
  const at = <T>(path: T) => (typeof path === "string" ? resolve(base, path) : path);
  const file = isObject(gmail) && { gmail: { ...gmail, credentialsFile: at(gmail.credentialsFile) } };
  return { ...config, hooks: { ...hooks, transformsDir: at(transformsDir), ...file } } as Config;
}

/** What a configuration file says, before anything is filled in. @throws ConfigError */
export function parseFile(text: string | undefined, source: string): Json {
  if (text === undefined) return {};
  let value: unknown;
  try {
    value = JSON5.parse(text);
  } catch (error) {
    throw new ConfigError(source, [`it is not valid JSON5 (${(error as Error).message.replace(/^JSON5: /, "")})`]);
  }
  if (isObject(value)) return value;
  throw new ConfigError(source, ["it must hold one object"]);
}

/**
 * The servers that a process of its own needs.
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
