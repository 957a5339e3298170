import { isObject } from "../json.ts";
import { type ConfigNode, childNode } from "./nodes.ts";
import { ConfigSchema, configKeys } from "./schema/config.ts";

export type Environment = Readonly<Record<string, string | undefined>>;
export type Json = Record<string, unknown>;

/**
 * A copy of a configuration file's value in which `${NAME}` in a string is replaced by that environment variable.
 * `missing` has the names of those that are not set, each with the key that wants it.
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
    const text = value.replace(/\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g, (_, name: string) => {
      isFilled = true;
      if (env[name] === undefined) missing.push({ key: path.join("."), name });
      return env[name] ?? "";
    });
    return isFilled ? typed(text, node) : value;
  };
  return { value: fill(file, ConfigSchema as ConfigNode, []) as Json, missing };
}

/** Environment variables are text: a number or a boolean is read where the schema wants one. */
function typed(text: string, node: ConfigNode | undefined): unknown {
  if (node?.type === "integer" && /^-?\d+$/.test(text.trim())) return Number(text);
  if (node?.type === "number" && /^-?\d+(\.\d+)?$/.test(text.trim())) return Number(text);
  if (node?.type === "boolean" && /^(true|false)$/.test(text.trim())) return text.trim() === "true";
  return text;
}

/** Lays the environment variables that override a key over the value. An empty one counts as none. */
export function applyEnvironment(value: Json, env: Environment): void {
  for (const [key, node] of configKeys()) {
    const given = node.env && env[node.env];
    if (!given) continue;
    const names = key.split(".");
    const last = names.pop() as string;
    let parent: unknown = value;
    for (const name of names) if (isObject(parent)) parent = parent[name] ??= {};
    // where a section is no object, the check of the whole says so
    if (isObject(parent)) parent[last] = typed(given, node);
  }
}
