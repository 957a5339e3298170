import { dirname, resolve } from "node:path";
import { type Expression, type Property, parseExpressionAt } from "acorn";
import { Ajv, type ErrorObject } from "ajv";
import JSON5 from "json5";
import { enumFault, limitFault } from "../shared/describeFault.ts";
import { StartError } from "../shared/process/lifecycle.ts";
import { ownCommand } from "../shared/process/ownCommands.ts";
import type { RedisAddress } from "../shared/queue/redisAddress.ts";
import { isObject } from "../shared/text/json.ts";
import { nearest } from "../shared/text/nearest.ts";
import { readTextFile } from "../shared/text/textFile.ts";
import { type Config, ConfigSchema, configKeys, crossChecks } from "./config.ts";
import { applyEnvironment, type Environment, type Json, substitute } from "./fill.ts";
import { fillPresets } from "./mappings/presets.ts";
import type { ConfigNode } from "./nodes.ts";

/** An unusable configuration. `problems` has one sentence for each fault, `source` the file or variable that has them. */
export class ConfigError extends StartError {
  readonly source: string;
  readonly problems: readonly string[];

  constructor(source: string, problems: readonly string[]) {
    super(`The configuration (${source}) is not usable:\n${problems.map((problem) => `  - ${problem}`).join("\n")}`);
    this.source = source;
    this.problems = problems;
  }
}

const validate = new Ajv({ allErrors: true, useDefaults: true, strict: false, verbose: true }).compile(ConfigSchema);

/** Returns the path of the configuration file: `SIGNALBOX_CONFIG`, by default `signalbox.json5` in the working directory. */
export const configPath = (env: Environment): string => resolve(env.SIGNALBOX_CONFIG || "signalbox.json5");

/** The variable that holds the text of the configuration where there is no file. */
const CONFIG_JSON = "SIGNALBOX_CONFIG_JSON";

/**
 * Reads the configuration file, or the variable that replaces it; undefined when there is neither. The `path` of the variable
 * is its name, and the paths in its text are relative to the working directory.
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
    return env[CONFIG_JSON] ? { path: CONFIG_JSON, text: env[CONFIG_JSON] } : undefined;
  }
}

/** A configuration, and the value of its file before variables are filled in, by which `redactConfig` finds their places. */
export interface LoadedConfig {
  readonly config: Config;
  readonly written: Json;
}

/**
 * Reads the configuration file, which may be absent, and the environment.
 * @throws ConfigError naming every problem at once
 */
export function loadConfig(env: Environment): LoadedConfig {
  const file = configFile(env);
  const config = parseConfig(file?.text, file ? env : withGeneratedToken(env), file?.path);
  return { config, written: parseFile(file?.text, file?.path ?? "environment") };
}

/** Reads the configuration alone. @throws ConfigError naming every problem at once */
export const readConfig = (env: Environment): Config => loadConfig(env).config;

/** The variable in which `start` passes its processes the generated hook token. It is ignored when a file exists. */
export const GENERATED_HOOKS_TOKEN = "SIGNALBOX_MADE_HOOKS_TOKEN";

const withGeneratedToken = (env: Environment): Environment =>
  env[GENERATED_HOOKS_TOKEN]
    ? { SIGNALBOX_HOOKS_ENABLED: "true", SIGNALBOX_HOOKS_TOKEN: env[GENERATED_HOOKS_TOKEN], ...env }
    : env;

const SECRET_VARIABLES: readonly string[] = [
  GENERATED_HOOKS_TOKEN,
  CONFIG_JSON,
  ...configKeys().flatMap(([, { env, secret }]) => (env && secret ? [env] : [])),
];

/** Returns an environment without the secrets of the service itself, for programs that do not need them. */
export const withoutOwnSecrets = <E extends Readonly<Record<string, string | undefined>>>(env: E): E =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !SECRET_VARIABLES.includes(name))) as E;

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
  fillPresets(value);
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
  const { hooks, redis } = config;
  const base = path === undefined ? process.cwd() : dirname(path);
  if (!isObject(hooks) || !isObject(redis) || !isObject(redis.tls)) return config; // the schema has reported the fault
  const { transformsDir = "hooks/transforms", gmail } = hooks;
  const at = <T>(path: T) => (typeof path === "string" && !isPem(path) ? resolve(base, path) : path);
  const file = isObject(gmail) && { gmail: { ...gmail, credentialsFile: at(gmail.credentialsFile) } };
  const ca = redis.tls.ca !== undefined && { ca: at(redis.tls.ca) };
  return {
    ...config,
    redis: { ...redis, tls: { ...redis.tls, ...ca } },
    hooks: { ...hooks, transformsDir: at(transformsDir), ...file },
  } as Config;
}

const isPem = (text: string): boolean => text.trimStart().startsWith("-----BEGIN");

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
  const address = redisAddress(redis);
  if (mongodb.uri && address) return { mongodbUri: mongodb.uri, redisAddress: address };
  const missing = mongodb.uri ? "REDIS_URL (redis.url)" : "MONGODB_URI (mongodb.uri)";
  throw new StartError(
    `${missing} is not set: set it, or use \`${ownCommand("start")}\`, which starts its own servers.`,
  );
}

/**
 * Returns the address of the configured Redis; undefined when there is none.
 * @throws StartError when the file of `redis.tls.ca` cannot be read
 */
export function redisAddress({ url, cluster, tls }: Config["redis"]): RedisAddress | undefined {
  if (url === undefined) return undefined;
  const { rejectUnauthorized, ca } = tls;
  return { url, cluster, tls: { rejectUnauthorized, ...(ca !== undefined && { ca: readAuthority(ca) }) } };
}

function readAuthority(ca: string): string {
  if (isPem(ca)) return ca;
  try {
    return readTextFile(ca);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new StartError(`The file ${ca} cannot be read (${code}): correct REDIS_TLS_CA (redis.tls.ca).`);
  }
}

function deepFreeze<T>(value: T): T {
  if (typeof value === "object" && value !== null) {
    for (const item of Object.values(value)) deepFreeze(item);
    Object.freeze(value);
  }
  return value;
}

/** Returns the dotted key of a fault, such as `agents.defaults.models.2.id`. */
function faultyKey(error: ErrorObject): string {
  const { missingProperty, additionalProperty } = error.params;
  const names = error.instancePath.split("/").slice(1);
  const last: string | undefined = missingProperty ?? additionalProperty;
  return [...names.map(unescapePointer), ...(last === undefined ? [] : [last])].map(printable).join(".");
}

/** Returns a printable key: JSON5 allows empty ones. */
const printable = (name: string) => name || '""';

const unescapePointer = (name: string) => name.replaceAll("~1", "/").replaceAll("~0", "~");

/** Returns a sentence about a fault that the schema found. Never contains the value, which may be a secret. */
function explain(error: ErrorObject, env: Environment): string {
  const { keyword, params } = error;
  const node = (error.parentSchema ?? {}) as ConfigNode;
  const key = faultyKey(error);
  const name = node.env && env[node.env] ? `${node.env} (${key})` : key;
  switch (keyword) {
    case "additionalProperties": {
      const known = nearest(params.additionalProperty, Object.keys(node.properties ?? {}));
      const section = key.slice(0, key.length - printable(params.additionalProperty).length);
      return `${key} is not a known key${known ? `; did you mean ${section}${known}?` : ""}`;
    }
    case "required":
      return `${key} is missing`;
    case "enum":
      return `${name} ${enumFault(error)}`;
    case "pattern":
      return `${name} must look like ${node.examples?.[0] ?? params.pattern}`;
    default:
      return `${name} ${limitFault(error) ?? error.message}`;
  }
}

/** A key that an object of the file has twice. */
export interface DuplicateKey {
  /** The dotted key, such as `hooks.mappings.0.id`. */
  readonly key: string;
  /** The lines of the first two, for people: `line 3`, or `lines 3 and 12`. */
  readonly lines: string;
}

/**
 * Returns the keys that occur twice in one object of a JSON5 text, of which a parser keeps only the last. JSON5 is a subset
 * of ECMAScript, so acorn reads it; returns nothing for a text that is not JSON5.
 */
export function findDuplicateKeys(text: string): DuplicateKey[] {
  try {
    return duplicatesIn(parseExpressionAt(text, 0, { ecmaVersion: 2022, locations: true }), []);
  } catch {
    return []; // the parser of JSON5 reports the fault
  }
}

function duplicatesIn(node: Expression, path: readonly string[]): DuplicateKey[] {
  if (node.type === "ArrayExpression") {
    return node.elements.flatMap((item, i) => (item ? duplicatesIn(item as Expression, [...path, String(i)]) : []));
  }
  if (node.type !== "ObjectExpression") return [];
  const properties = node.properties as Property[];
  const byName = Map.groupBy(properties, nameOf);
  const twice = [...byName].flatMap(([name, [first, second]]) =>
    first && second ? [{ key: [...path, name].join("."), lines: linesOf(first, second) }] : [],
  );
  return [...twice, ...properties.flatMap((one) => duplicatesIn(one.value, [...path, nameOf(one)]))];
}

const nameOf = ({ key }: Property): string =>
  key.type === "Identifier" ? key.name : String((key as { value?: unknown }).value);

function linesOf(first: Property, second: Property): string {
  const [a, b] = [first, second].map(({ loc }) => loc?.start.line);
  return a === b ? `line ${a}` : `lines ${a} and ${b}`;
}
