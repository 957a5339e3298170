import { decimalOf } from "../shared/text/decimal.ts";
import { isObject } from "../shared/text/json.ts";
import { ConfigSchema, configKeys } from "./config.ts";
import { type ConfigNode, childNode } from "./nodes.ts";

export type Environment = Readonly<Record<string, string | undefined>>;
export type Json = Record<string, unknown>;

/**
 * Returns a copy of a configuration in which each `${NAME}` in a string is replaced by that environment variable, and each
 * `$${NAME}` by the literal text `${NAME}`. `missing` lists the variables that are not set, each with the key that refers to it.
 */
export function substitute(
  file: Json,
  env: Environment,
): { value: Json; missing: { readonly key: string; readonly name: string }[] } {
  const missing: { key: string; name: string }[] = [];
  const fill = (value: unknown, node: ConfigNode | undefined, path: readonly string[]): unknown => {
    if (Array.isArray(value)) return value.map((item, i) => fill(item, node?.items, [...path, String(i)]));
    if (isObject(value)) {
      const filled = Object.entries(value).map(([key, item]) => [
        key,
        fill(item, childNode(node, key), [...path, key]),
      ]);
      return Object.fromEntries(filled);
    }
    if (typeof value !== "string") return value;
    let isFilled = false;
    const text = value.replace(/(\$?)\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g, (found, dollar: string, name: string) => {
      if (dollar) return found.slice(1);
      isFilled = true;
      if (env[name] === undefined) missing.push({ key: path.join("."), name });
      return env[name] ?? "";
    });
    return isFilled ? convert(text, node) : text;
  };
  return { value: fill(file, ConfigSchema as ConfigNode, []) as Json, missing };
}

/** Converts the text of an environment variable to a number, a boolean or a map where the schema expects one. */
function convert(text: string, node: ConfigNode | undefined): unknown {
  if (node?.type === "integer" || node?.type === "number") return decimalOf(text.trim(), node.type) ?? text;
  if (node?.type === "boolean" && /^(true|false)$/.test(text.trim())) return text.trim() === "true";
  if (node?.type === "object") return pairsOf(text) ?? text;
  return text;
}

/** Reads a map as the variables of OpenTelemetry state it: `name=value,name=value`; undefined if the text is none. */
function pairsOf(text: string): Json | undefined {
  const pairs = text.split(",").filter((pair) => pair.trim() !== "");
  try {
    if (!pairs.every((pair) => pair.includes("="))) return undefined;
    return Object.fromEntries(
      pairs.map((pair) =>
        [pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1)].map((part) =>
          decodeURIComponent(part.trim()),
        ),
      ),
    );
  } catch {
    return undefined;
  }
}

/** The variables with which Heroku, Render, Railway and Fly.io mark a process. Their routers cannot reach loopback. */
const PLATFORMS = ["DYNO", "RENDER", "RAILWAY_ENVIRONMENT", "FLY_APP_NAME"];

/** Sets each key that an environment variable overrides, in place. An empty variable counts as unset. */
export function applyEnvironment(value: Json, env: Environment): void {
  for (const [key, node] of configKeys()) {
    const given = node.env && env[node.env];
    if (!given) continue;
    const names = key.split(".");
    const last = names.pop() as string;
    let parent: unknown = value;
    for (const name of names) if (isObject(parent)) parent = parent[name] ??= {};
    // If a section is not an object, the schema reports it later.
    if (isObject(parent)) parent[last] = convert(given, node);
  }
  if (!PLATFORMS.some((name) => env[name])) return;
  value.server ??= {};
  if (isObject(value.server)) value.server.host ??= "0.0.0.0";
}
