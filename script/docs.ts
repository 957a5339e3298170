import { DURATION_PATTERN } from "../src/shared/config/formats/duration.ts";
import type { ConfigNode } from "../src/shared/config/nodes.ts";
import { ConfigSchema, configKeys, isSection } from "../src/shared/config/schema/config.ts";
import { MappingSchema } from "../src/shared/config/schema/mapping.ts";
import { ERRORS } from "../src/shared/errors.ts";
import { cliDocs } from "./cliDocs.ts";
import { metricsDocs } from "./metricsDocs.ts";

/** The documents that are generated from the code, by path. `npm run docs` writes them; a test compares them. */
export function generatedDocs(): Record<string, string> {
  return {
    "docs/reference/configuration.md": configuration(),
    "docs/reference/errors.md": errors(),
    "docs/reference/cli.md": cliDocs(),
    "docs/reference/metrics.md": metricsDocs(),
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
    return `## ${name}\n\n${words}${table}${name === "hooks" ? `\n\n${mapping()}` : ""}`;
  });
  return `# Configuration

<!-- Made by \`npm run docs\` from src/shared/config/schema/config.ts. -->

One JSON5 file, and the environment over it. Every problem is named at once, and a start with a problem is refused.

- The file is \`signalbox.json5\` in the working directory, or what \`SIGNALBOX_CONFIG\` names. It may be absent.
- \`\${NAME}\` in a string takes the environment variable NAME; a missing one is an error.
- An unknown key is an error that names the nearest known one.
- An empty environment variable counts as none. The npm scripts and \`npx signalbox\` read a file \`.env\` in the working directory too.

| command (in a clone \`npx signalbox …\`) | |
|---|---|
| \`signalbox init\` | writes a file with every key explained, the hooks on, and fresh secrets for \`server.apiToken\` and \`hooks.token\`, which only you can read; \`--force\` replaces one that is there |
| \`signalbox config check\` | says whether file and environment together are usable, or names every problem and ends with exit code 1 |
| \`signalbox config show\` | prints as JSON what takes effect; secrets read \`[redacted]\` |

Without a file \`npm start\` turns the hooks on (\`SIGNALBOX_HOOKS_ENABLED=false\` keeps them off). Their token is
\`SIGNALBOX_HOOKS_TOKEN\`, or one that the first start makes, keeps in \`hooks-token\` in the data directory, and every start
shows. With a file the hooks are on when it says so.

\`\`\`json5
${EXAMPLE}
\`\`\`

A duration is a whole number and a unit: \`s\`, \`m\`, \`h\`, \`d\` or \`w\`.

${sections.join("\n\n")}
`;
}

const HEADING = "| key | environment | value | default | what it does |\n|---|---|---|---|---|";

/** Returns the keys of the items of `hooks.mappings`. */
function mapping(): string {
  const rows = configKeys(MappingSchema as ConfigNode).map(([key, node]) => row(key, node).replace(" |  | ", " | "));
  const heading = "| key | value | default | what it does |\n|---|---|---|---|";
  return `### Keys of a mapping\n\n[Hooks](hooks.md) explains how mappings work, and [templates](templates.md) what a template is.\n\n${heading}\n${rows.join("\n")}`;
}

function row(key: string, node: ConfigNode): string {
  const env = node.env ? `\`${node.env}\`` : "";
  const standard = node.default === undefined ? "none" : `\`${node.default}\``;
  return `| \`${key}\` | ${env} | ${kind(node)} | ${standard} | ${node.description}${SECRET[String(node.secret)] ?? ""} |`;
}

const SECRET: Readonly<Record<string, string>> = { true: " *Secret.*", credentials: " *Its credentials are secret.*" };

function kind(node: ConfigNode): string {
  if (node.enum) return node.enum.map((one) => `\`${one}\``).join(", ");
  if (node.pattern === DURATION_PATTERN) return "duration";
  if (node.type === "integer") return `${node.minimum}–${node.maximum}`;
  if (node.type === "number") return `above ${node.exclusiveMinimum}, to ${node.maximum}`;
  if (node.type === "array") return "list";
  if (Array.isArray(node.type)) return "list or map";
  if (node.type === "object") return node.properties ? "`{}`" : "map";
  return node.type === "boolean" ? "`true`, `false`" : "text";
}

function errors(): string {
  const rows = Object.entries(ERRORS).map(
    ([code, { status, title, retry }]) => `| \`${code}\` | ${status} | ${title} | ${retry ? "yes" : "no"} |`,
  );
  return `# Errors

<!-- Made by \`npm run docs\` from src/shared/errors.ts. -->

Every error is \`application/problem+json\` (RFC 9457) with \`type\`, \`title\`, \`status\`, \`detail\` and \`code\`. Look at \`code\`:
it is stable; codes are added, never renamed. \`detail\` is for people. \`errors\` lists each fault: \`pointer\` (JSON Pointer) into
a body, \`parameter\` of a URL. 401 carries \`WWW-Authenticate\`, 405 \`Allow\`, 429 and 503 \`Retry-After\` in seconds.

| code | status | what it means | may the same request succeed later |
|---|---|---|---|
${rows.join("\n")}
`;
}

function environment(): string {
  const keys = configKeys().filter(([, node]) => node.env);
  const lines = keys.map(([key, node]) => `# ${node.description} (${key})\n#${node.env}=${node.default ?? ""}`);
  return `# Copy to .env, which the npm scripts and \`npx signalbox\` read. Everything here is optional with \`npm start\`.
# Made by \`npm run docs\` from src/shared/config/schema/config.ts.

# Another configuration file than ./signalbox.json5.
#SIGNALBOX_CONFIG=

${lines.join("\n\n")}
`;
}
