import { REDACTED, redactAddress } from "../../shared/address.ts";
import { type ConfigNode, childNode } from "../../shared/config/nodes.ts";
import { type Config, ConfigSchema } from "../../shared/config/schema/config.ts";

/**
 * The configuration in the order of its schema, without its secrets. Of a map of secrets the keys stay. A text that takes
 * an environment variable is shown as the file has it: nobody knows what the variable holds.
 * @param file the configuration file's value, before it is filled in
 */
export const redactConfig = (config: Config, file: unknown = {}): unknown =>
  redact(config, ConfigSchema as ConfigNode, file);

function redact(value: unknown, node: ConfigNode | undefined, written: unknown): unknown {
  if (!node?.secret && typeof written === "string" && /\$\{[A-Za-z_]/.test(written)) return written;
  if (node?.secret === "credentials") return redactAddress(String(value));
  if (typeof value !== "object" || value === null) return node?.secret ? REDACTED : value;
  if (Array.isArray(value)) return value.map((item, i) => redact(item, node?.items, at(written, i)));
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
