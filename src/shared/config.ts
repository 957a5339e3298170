import { readFileSync } from "node:fs";
import { isIPv4 } from "node:net";
import { resolve } from "node:path";
import { Ajv, type ErrorObject } from "ajv";
import JSON5 from "json5";
import type { ConfigNode } from "./configNodes.ts";
import { type Config, ConfigSchema, configKeys } from "./configSchema.ts";
import { StartError } from "./lifecycle.ts";
import { nearest } from "./nearest.ts";

type Environment = Readonly<Record<string, string | undefined>>;
type Json = Record<string, unknown>;

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

/**
 * Reads `SIGNALBOX_CONFIG` (default `signalbox.json5` in the working directory; absent is fine) and the environment.
 * @throws ConfigError naming every problem at once
 */
export function readConfig(env: Environment): Config {
  const path = resolve(env.SIGNALBOX_CONFIG ?? "signalbox.json5");
  let text: string | undefined;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "ENOENT") throw new ConfigError(path, [`the file cannot be read (${code})`]);
    if (env.SIGNALBOX_CONFIG) throw new ConfigError(path, ["SIGNALBOX_CONFIG names a file that does not exist"]);
  }
  return parseConfig(text, env, text === undefined ? "environment" : path);
}

/**
 * Turns a configuration file's text (JSON5, or undefined for none) and the environment into a frozen, checked value.
 * @throws ConfigError naming every problem at once
 */
export function parseConfig(text: string | undefined, env: Environment, source = "configuration"): Config {
  const missing = new Map<string, string>();
  const value = substitute(parseFile(text, source), ConfigSchema as ConfigNode, "", env, missing) as Json;
  applyEnvironment(value, env);
  const problems = [...missing].map(([key, name]) => `${key}: the environment variable ${name} is not set`);
  if (!validate(value)) {
    const told = (validate.errors ?? []).filter((error) => !missing.has(dotted(error)));
    problems.push(...told.map((error) => explain(error, env)));
  }
  problems.push(...refusedBind(value));
  if (problems.length > 0) throw new ConfigError(source, problems);
  return deepFreeze(value) as unknown as Config;
}

function parseFile(text: string | undefined, source: string): Json {
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

/** A copy in which `${NAME}` in a string is replaced by that environment variable; notes by key which are missing. */
function substitute(
  value: unknown,
  node: ConfigNode | undefined,
  path: string,
  env: Environment,
  missing: Map<string, string>,
): unknown {
  if (Array.isArray(value)) return value.map((item, i) => substitute(item, undefined, `${path}.${i}`, env, missing));
  if (isObject(value)) {
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [
        key,
        substitute(item, node?.properties?.[key], path ? `${path}.${key}` : key, env, missing),
      ]),
    );
  }
  if (typeof value !== "string" || !value.includes("${")) return value;
  const filled = value.replace(/\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g, (_, name: string) => {
    if (env[name] === undefined) missing.set(path, name);
    return env[name] ?? "";
  });
  return typed(filled, node);
}

/** Environment variables are text: a number or a boolean is read where the schema wants one. */
function typed(text: string, node: ConfigNode | undefined): unknown {
  if (node?.type === "integer" && /^-?\d+$/.test(text.trim())) return Number(text);
  if (node?.type === "boolean" && /^(true|false)$/.test(text.trim())) return text.trim() === "true";
  return text;
}

function applyEnvironment(value: Json, env: Environment): void {
  for (const [key, node] of configKeys()) {
    const given = node.env === undefined ? undefined : env[node.env];
    if (given === undefined || given === "") continue;
    const names = key.split(".");
    const last = names.pop() as string;
    let parent = value;
    for (const name of names) {
      if (parent[name] === undefined) parent[name] = {};
      if (!isObject(parent[name])) return; // the check of the whole says that the section must be an object
      parent = parent[name];
    }
    parent[last] = typed(given, node);
  }
}

const dotted = (error: ErrorObject): string => error.instancePath.slice(1).replaceAll("/", ".");

function explain(error: ErrorObject, env: Environment): string {
  const path = dotted(error);
  const node = error.parentSchema as ConfigNode | undefined;
  if (error.keyword === "additionalProperties") {
    const unknown = String(error.params.additionalProperty);
    const known = nearest(unknown, Object.keys(node?.properties ?? {}));
    const prefix = path ? `${path}.` : "";
    return `${prefix}${unknown} is not a known key; did you mean ${prefix}${known}?`;
  }
  const leaf = configKeys().find(([key]) => key === path)?.[1];
  const name = leaf?.env && env[leaf.env] ? `${leaf.env} (${path})` : path;
  if (error.keyword === "enum") return `${name} must be one of ${leaf?.enum?.join(", ")}`;
  if (error.keyword === "minLength") return `${name} must have at least ${error.params.limit} characters`;
  if (error.keyword === "pattern") return `${name} must look like ${leaf?.examples?.[0] ?? error.params.pattern}`;
  return `${name} ${error.message}`;
}

/**
 * The servers that a process of its own needs.
 * @throws StartError when one is not configured
 */
export function requireServers({ mongodb, redis }: Config): { mongodbUri: string; redisUrl: string } {
  if (mongodb.uri && redis.url) return { mongodbUri: mongodb.uri, redisUrl: redis.url };
  const missing = mongodb.uri ? "REDIS_URL (redis.url)" : "MONGODB_URI (mongodb.uri)";
  throw new StartError(`${missing} is not set: set it, or use \`npm start\`, which brings its own servers.`);
}

function refusedBind(value: Json): string[] {
  const server = isObject(value.server) ? value.server : {};
  const { host, apiToken, allowUnauthenticated } = server;
  if (typeof host !== "string" || isLoopback(host) || apiToken || allowUnauthenticated === true) return [];
  return [
    `server.host is ${host}, which others can reach, and there is no server.apiToken: set a token, bind to 127.0.0.1, or set server.allowUnauthenticated to true`,
  ];
}

/** Whether only programs on this machine can reach the address. */
function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || (isIPv4(host) && host.startsWith("127."));
}

const isObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function deepFreeze<T>(value: T): T {
  if (typeof value === "object" && value !== null) {
    for (const item of Object.values(value)) deepFreeze(item);
    Object.freeze(value);
  }
  return value;
}
