import type { ConfigNode } from "../../shared/config/nodes.ts";
import { ConfigSchema, isSection } from "../../shared/config/schema/config.ts";

const WIDTH = 100;

const HEAD = `The configuration of Signalbox, in JSON5. A key after // has its default value, or an example if there is no default.
Remove the // to set the key. \${NAME} in a text is replaced by the environment variable NAME. An environment variable in
parentheses overrides its key. \`signalbox config check\` checks the file; /guide/reference/configuration of the running
service describes every key.`;

/** Returns a configuration file that explains every key and sets those in `set`, which are given by their dotted names. */
export function configTemplate(set: Readonly<Record<string, unknown>>): string {
  const head = HEAD.split("\n").map((line) => `// ${line}`);
  return [...head, "{", ...keys(ConfigSchema as ConfigNode, "", "  ", set), "}", ""].join("\n");
}

function keys(node: ConfigNode, path: string, indent: string, set: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(node.properties ?? {}).flatMap(([name, child]) => {
    const key = path ? `${path}.${name}` : name;
    const words = [child.description, child.env && `(${child.env})`].filter(Boolean).join(" ");
    const comment = wrap(words, WIDTH - indent.length).map((line) => `${indent}// ${line}`);
    if (!isSection(child)) return [...comment, `${indent}${line(name, child, set[key])}`];
    // A section without a default may be absent, so it is commented out.
    const off = child.default === undefined ? "//" : "";
    return [...comment, `${indent}${off}${name}: {`, ...keys(child, key, `${indent}  `, set), `${indent}${off}},`];
  });
}

function line(name: string, node: ConfigNode, value: unknown): string {
  if (value !== undefined) return `${name}: ${literal(value)},`;
  if (node.default !== undefined) return `//${name}: ${literal(node.default)},`;
  if (node.properties) return `//${name}: {},`;
  return `//${name}: ${literal(node.examples?.[0])}, // an example`;
}

function literal(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(literal).join(", ")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const entries = Object.entries(value).map(
    ([key, item]) => `${/^[A-Za-z_]\w*$/.test(key) ? key : JSON.stringify(key)}: ${literal(item)}`,
  );
  return `{ ${entries.join(", ")} }`;
}

function wrap(words: string, width: number): string[] {
  const lines = [""];
  for (const word of words.split(" ")) {
    const last = lines.at(-1) ?? "";
    if (last && last.length + 1 + word.length > width) lines.push(word);
    else lines[lines.length - 1] = last ? `${last} ${word}` : word;
  }
  return lines;
}
