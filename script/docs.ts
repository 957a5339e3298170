import JSON5 from "json5";
import { DURATION_PATTERN } from "../src/shared/config/formats/duration.ts";
import type { ConfigNode } from "../src/shared/config/nodes.ts";
import { ConfigSchema, configKeys, isSection } from "../src/shared/config/schema/config.ts";
import { MappingSchema } from "../src/shared/config/schema/mapping.ts";
import { NotifySchemas, RuleSchema } from "../src/shared/config/schema/notify.ts";
import { TokenSchema } from "../src/shared/config/schema/tokens.ts";
import { ERRORS } from "../src/shared/errorCatalogue.ts";
import { mcpDocs, scopeDocs } from "./accessDocs.ts";
import { cliDocs } from "./cliDocs.ts";
import { dependencyDocs } from "./dependencyDocs.ts";
import { eventDocs } from "./eventDocs.ts";
import { metricsDocs } from "./metricsDocs.ts";

/** The documents that are generated from the code, by path. `npm run docs` writes them; a test compares them. */
export function generatedDocs(): Record<string, string> {
  return {
    "docs/reference/configuration.md": configuration(),
    "docs/reference/errors.md": errors(),
    "docs/reference/cli.md": cliDocs(),
    "docs/reference/metrics.md": metricsDocs(),
    "docs/reference/notification-events.md": eventDocs(),
    "docs/reference/dependencies.md": dependencyDocs(),
    "docs/reference/scopes.md": scopeDocs(),
    "docs/reference/mcp.md": mcpDocs(),
    ".env.example": environment(),
  };
}

/** A file with more than defaults; a test validates it with the schema. */
const EXAMPLE = `{
  server: { host: "0.0.0.0", apiToken: "\${SIGNALBOX_API_TOKEN}", trustProxy: 1 },
  mongodb: { uri: "\${MONGODB_URI}" },
  redis: { url: "\${REDIS_URL}" },
  retention: { completedAfter: "30d", failedAfter: "90d" },
  hooks: { enabled: true, token: "\${SIGNALBOX_HOOKS_TOKEN}", allowedSessionKeyPrefixes: ["hook:"] },
  agents: {
    defaults: {
      runner: "openai",
      model: "large",
      models: ["gpt-5-mini", { id: "gpt-5", alias: "large" }],
      heartbeat: { every: "1h" },
    },
    runners: { openai: { apiKey: "\${OPENAI_API_KEY}" } },
  },
  session: { main: { channel: "log", to: "me" } },
  channels: { log: {} },
}`;

function configuration(): string {
  const sections = Object.entries((ConfigSchema as ConfigNode).properties ?? {}).map(([name, node]) => {
    const words = isSection(node) ? `${node.description}\n\n` : "";
    const rows = configKeys({ properties: { [name]: node } }).map(([key, one]) => row(key, one));
    const table = `${HEADING}\n${rows.join("\n")}`;
    return `## ${name}\n\n${words}${table}${itemsOf(name)}`;
  });
  return `# Configuration

<!-- Made by \`npm run docs\` from src/shared/config/schema/config.ts. -->

Signalbox reads its configuration from one JSON5 file and from environment variables, which take precedence. If the
configuration has problems, the service lists all of them and does not start.

- The file is \`signalbox.json5\` in the working directory. \`SIGNALBOX_CONFIG\` names another file. The file is optional.
- \`SIGNALBOX_CONFIG_JSON\` can hold the text of the file on hosts without files. An existing file takes precedence.
- \`\${NAME}\` in a text is replaced by the environment variable NAME, which must be set. Write \`$\${NAME}\` for the literal text \`\${NAME}\`.
- Unknown keys, keys that appear twice, and keys that have no effect are errors.
- An empty environment variable counts as not set. The npm scripts and \`npx signalbox\` also read the file \`.env\` in the working directory.

| command (in a clone \`npx signalbox …\`) | what it does |
|---|---|
| \`signalbox init\` | writes a file that explains every key, with hooks turned on and new secrets for \`server.apiToken\` and \`hooks.token\`. Only you can read the file. \`--force\` replaces an existing file. |
| \`signalbox config check\` | checks file and environment. It lists every problem and exits with 1 if there is one. |
| \`signalbox config show\` | prints the effective configuration as JSON. Secrets are shown as \`[redacted]\`. |

Without a file, \`npx signalbox start\` turns the hooks on; \`SIGNALBOX_HOOKS_ENABLED=false\` turns them off. The hook token is
\`SIGNALBOX_HOOKS_TOKEN\`. If that is not set, the first start generates a token, stores it as \`hooks-token\` in the data
directory, and every start prints it. With a file, the hooks are on only if \`hooks.enabled\` is true.

\`\`\`json5
${EXAMPLE}
\`\`\`

A duration is a whole number and a unit: \`s\` (seconds), \`m\` (minutes), \`h\` (hours), \`d\` (days) or \`w\` (weeks). For example \`90s\` or \`30d\`.

${sections.join("\n\n")}
`;
}

const HEADING = "| key | environment | value | default | what it does |\n|---|---|---|---|---|";

/** Returns a section with the keys of the items of a list. */
function items(title: string, words: string, schema: object): string {
  const rows = configKeys(schema as ConfigNode).map(([key, node]) => row(key, node).replace(" |  | ", " | "));
  const heading = "| key | value | default | what it does |\n|---|---|---|---|";
  return `\n\n### ${title}\n\n${words}${heading}\n${rows.join("\n")}`;
}

/** Returns the keys of the items of the list that is a section or in it; nothing for other sections. */
function itemsOf(section: string): string {
  switch (section) {
    case "hooks": {
      const words =
        "[Hooks](hooks.md) explains how mappings work, and [templates](templates.md) what a template is.\n\n";
      return items("Keys of a mapping", words, MappingSchema);
    }
    case "server": {
      const words = "[Tokens and scopes](scopes.md) explains them. `signalbox token new` prints an entry.\n\n";
      return items("Keys of a token", words, TokenSchema);
    }
    case "notify":
      return items("Keys of a rule", "", RuleSchema);
    case "expect":
      return items("Keys of an expectation", "", NotifySchemas.expect.items);
    default:
      return "";
  }
}

function row(key: string, node: ConfigNode): string {
  const env = node.env ? `\`${node.env}\`` : "";
  const standard = node.default === undefined ? "none" : `\`${asText(node.default)}\``;
  return `| \`${key}\` | ${env} | ${kind(node)} | ${standard} | ${node.description}${example(node)}${SECRET[String(node.secret)] ?? ""} |`;
}

const asText = (value: unknown): string => (typeof value === "string" ? value : JSON5.stringify(value));

/** Returns a typical value of a key, unless its description has one or the key has a default. */
function example({ description = "", default: standard, secret, examples }: ConfigNode): string {
  const [value] = examples ?? [];
  if (value === undefined || standard !== undefined || secret === true) return "";
  const shown = asText(value);
  const isShown = description.includes("For example") || description.includes(shown);
  return isShown ? "" : ` For example \`${shown}\`.`;
}

const SECRET: Readonly<Record<string, string>> = {
  true: " *Secret.*",
  credentials: " *Its credentials are secret.*",
  path: " *Its credentials and its path are secret.*",
};

const KINDS: Readonly<Record<string, string>> = { string: "text", array: "list", object: "map" };

function kind(node: ConfigNode): string {
  if (node.enum) return node.enum.map((one) => `\`${one}\``).join(", ");
  if (node.pattern === DURATION_PATTERN) return "duration";
  if (node.type === "integer") return `${node.minimum}–${node.maximum}`;
  if (node.type === "number") return `above ${node.exclusiveMinimum}, to ${node.maximum}`;
  if (node.type === "array") return node.items?.enum ? `list of ${kind(node.items)}` : "list";
  if (Array.isArray(node.type)) return node.type.map((type) => KINDS[type] ?? type).join(" or ");
  if (node.type === "object") return node.properties ? "`{}`" : "map";
  return node.type === "boolean" ? "`true`, `false`" : "text";
}

function errors(): string {
  const rows = Object.entries(ERRORS).map(
    ([code, { status, title, fix, retry }]) =>
      `| \`${code}\` | ${status} | ${title} | ${fix} | ${retry ? "yes" : "no"} |`,
  );
  return `# Errors

<!-- Made by \`npm run docs\` from src/shared/errorCatalogue.ts. -->

Every error response has the media type \`application/problem+json\` (RFC 9457) and the fields \`type\`, \`title\`, \`status\`,
\`detail\` and \`code\`. Programs should read \`code\`: codes are added and never renamed. \`detail\` describes the problem of the
request for people. \`errors\` lists each invalid field (\`pointer\`, a JSON Pointer into the body) or parameter of the URL
(\`parameter\`). A 401 response has the header \`WWW-Authenticate\`, a 405 response \`Allow\`, and 429 and 503 responses
\`Retry-After\` in seconds.

| code | status | what it means | what you can do | can the same request succeed later |
|---|---|---|---|---|
${rows.join("\n")}
`;
}

function environment(): string {
  const keys = configKeys().filter(([, node]) => node.env);
  const lines = keys.map(([key, node]) => `# ${node.description} (${key})\n#${node.env}=${node.default ?? ""}`);
  return `# Copy to .env, which the npm scripts and \`npx signalbox\` read. Everything here is optional with \`npx signalbox start\`.
# Made by \`npm run docs\` from src/shared/config/schema/config.ts.

# Another configuration file than ./signalbox.json5.
#SIGNALBOX_CONFIG=

${lines.join("\n\n")}
`;
}
