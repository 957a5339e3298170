import { ConfigSchema, isSection } from "../../config/config.ts";
import type { ConfigNode } from "../../config/nodes.ts";

const WIDTH = 100;

const HEAD = `Configuration of Signalbox in JSON5. A running service has its guide at /guide/, by default
http://127.0.0.1:3000/guide/. \`signalbox config check\` validates this file.

A line with // directly before a key shows the default of the key, or an example if there is no
default. Remove the // to set the key. \${NAME} in a string stands for the environment variable
NAME. The environment variable in parentheses after a description overrides the key below it.`;

/** Examples that are too long for one line, by the name of the key. */
const EXAMPLES: Readonly<Record<string, string>> = {
  "hooks.mappings": `For example, POST /hooks/ci with { "branch": "main", "url": "…" } starts a run, and the reply
of the agent goes to a chat:

  mappings: [
    {
      match: { path: "ci" },
      name: "CI of {{branch}}",
      messageTemplate: "The build of {{branch}} failed: {{url}}. Find the reason.",
      channel: "telegram",
      to: "12345",
    },
  ],
`,
  notify: `For example, to send a message to a chat when a job fails, and a webhook when a job is stale:

  notify: [
    {
      id: "ops",
      on: ["job.failed"],
      to: { channel: "telegram", to: "12345" },
      cooldown: "1h",
    },
    {
      id: "ci",
      on: ["job.stale", "job.recovered"],
      where: { name: "Nightly" },
      to: { webhook: { url: "https://ci.example.com/signalbox", secret: "\${NOTIFY_SECRET}" } },
    },
  ],
`,
  expect: `For example, to notice that a backup has not begun:

  expect: [{ id: "backup", name: "Nightly backup", every: "1d", grace: "2h" }],
`,
};

/** Returns a configuration file that explains every key and sets those in `set`, which are given by their dotted names. */
export function configTemplate(set: Readonly<Record<string, unknown>>): string {
  const head = commented(HEAD, "");
  return [...head, "{", ...keys(ConfigSchema as ConfigNode, "", "  ", set), "}", ""].join("\n");
}

function keys(node: ConfigNode, path: string, indent: string, set: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(node.properties ?? {}).flatMap(([name, child]) => {
    const key = path ? `${path}.${name}` : name;
    const words = [child.description, child.env && `(${child.env})`].filter(Boolean).join(" ");
    const comment = wrap(words, WIDTH - indent.length - "// ".length).map((line) => `${indent}// ${line}`);
    comment.push(...commented(EXAMPLES[key], indent));
    if (!isSection(child)) return [...comment, `${indent}${line(name, child, set[key])}`];
    // A section without a default may be absent, so it is commented out.
    const off = child.default === undefined ? "//" : "";
    return [...comment, `${indent}${off}${name}: {`, ...keys(child, key, `${indent}  `, set), `${indent}${off}},`];
  });
}

const commented = (text: string | undefined, indent: string): string[] =>
  text === undefined ? [] : text.split("\n").map((line) => `${indent}// ${line}`.trimEnd());

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
