import { REDACTED, redactAddress } from "../shared/address.ts";
import { type ConfigNode, childNode } from "../shared/configNodes.ts";
import { type Config, ConfigSchema } from "../shared/configSchema.ts";

/** The configuration in the order of its schema, without its secrets. Of a map of secrets the keys stay. */
export const redactConfig = (config: Config): unknown => redact(config, ConfigSchema as ConfigNode);

function redact(value: unknown, node: ConfigNode | undefined): unknown {
  if (node?.secret === "credentials") return redactAddress(String(value));
  if (typeof value !== "object" || value === null) return node?.secret ? REDACTED : value;
  if (Array.isArray(value)) return value.map((item) => redact(item, node?.items));
  const known = Object.keys(node?.properties ?? {});
  const names = [...known.filter((name) => Object.hasOwn(value, name)), ...Object.keys(value)];
  const entries = [...new Set(names)].map((name) => {
    const item = value[name as keyof typeof value];
    return [name, node?.secret ? REDACTED : redact(item, childNode(node, name))];
  });
  return Object.fromEntries(entries);
}
