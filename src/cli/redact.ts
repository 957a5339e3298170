import { type ConfigNode, childNode } from "../shared/configNodes.ts";
import { type Config, ConfigSchema } from "../shared/configSchema.ts";

const HIDDEN = "[redacted]";

/** The configuration in the order of its schema, without its secrets. Of a map of secrets the keys stay. */
export const redactConfig = (config: Config): unknown => redact(config, ConfigSchema as ConfigNode);

function redact(value: unknown, node: ConfigNode | undefined): unknown {
  if (node?.secret === "credentials") return redactAddress(String(value));
  if (typeof value !== "object" || value === null) return node?.secret ? HIDDEN : value;
  if (Array.isArray(value)) return value.map((item) => redact(item, node?.items));
  const known = Object.keys(node?.properties ?? {});
  const names = [...known.filter((name) => Object.hasOwn(value, name)), ...Object.keys(value)];
  const entries = [...new Set(names)].map((name) => {
    const item = value[name as keyof typeof value];
    return [name, node?.secret ? HIDDEN : redact(item, childNode(node, name))];
  });
  return Object.fromEntries(entries);
}

/** An address without its user, password and query; nothing but its scheme where it is not clear what is which. */
function redactAddress(address: string): string {
  const [scheme] = /^[a-z+]+:\/\//i.exec(address) ?? [""];
  const [rest = ""] = address.slice(scheme.length).split(/[?#]/, 1);
  const more = address.slice(scheme.length + rest.length);
  if (more.includes("@")) return `${scheme}${HIDDEN}`; // of a password, or of the query
  const at = rest.lastIndexOf("@"); // a password may hold one too
  return `${scheme}${at < 0 ? "" : `${HIDDEN}@`}${rest.slice(at + 1)}${more && `?${HIDDEN}`}`;
}

/** The hosts of an address. */
export const hostsOf = (address: string): string =>
  redactAddress(address)
    .replace(/^[a-z+]+:\/\//i, "")
    .replace(/^[^@]*@/, "")
    .replace(/[/?].*$/s, "");
