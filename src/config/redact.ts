import { REDACTED, redactAddress, redactPath } from "../shared/address.ts";
import { type Config, ConfigSchema } from "./config.ts";
import { type ConfigNode, childNode } from "./nodes.ts";

/**
 * Returns the configuration in the order of its schema, without secrets. Maps of secrets keep their keys, and lists their
 * length. A text with an environment variable is shown as in the file, because the variable may contain a secret.
 * @param file the configuration file's value, before variables are filled in
 */
export const redactConfig = (config: Config, file: unknown = {}): unknown =>
  redact(config, ConfigSchema as ConfigNode, file);

function redact(value: unknown, node: ConfigNode | undefined, written: unknown): unknown {
  if (!node?.secret && typeof written === "string" && /\$\{[A-Za-z_]/.test(written)) return written;
  if (node?.secret === "credentials") return redactAddress(String(value));
  if (node?.secret === "path") return redactPath(String(value));
  if (typeof value !== "object" || value === null) return node?.secret ? REDACTED : value;
  if (Array.isArray(value)) {
    return value.map((item, i) => (node?.secret ? REDACTED : redact(item, node?.items, at(written, i))));
  }
  const known = Object.keys(node?.properties ?? {});
  const names = [...known.filter((name) => Object.hasOwn(value, name)), ...Object.keys(value)];
  const entries = [...new Set(names)].map((name) => {
    const item = value[name as keyof typeof value];
    return [name, node?.secret ? REDACTED : redact(item, childNode(node, name), at(written, name))];
  });
  return Object.fromEntries(entries);
}

const at = (value: unknown, key: string | number): unknown =>
  typeof value === "object" && value !== null ? value[key as keyof typeof value] : undefined;
