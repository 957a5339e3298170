import type { ConfigNode } from "../src/shared/configNodes.ts";
import { configKeys } from "../src/shared/configSchema.ts";
import { ERRORS } from "../src/shared/errors.ts";

/** The documents that are made from the code, by path. `npm run docs` writes them; a test holds them to the code. */
export function generatedDocs(): Record<string, string> {
  return { "docs/configuration.md": configuration(), "docs/errors.md": errors(), ".env.example": environment() };
}

function configuration(): string {
  const rows = configKeys().map(([key, node]) => {
    const env = node.env ? `\`${node.env}\`` : "";
    return `| \`${key}\` | ${env} | ${kind(node)} | ${standard(node)} | ${node.description}${node.secret ? " *Secret.*" : ""} |`;
  });
  return `# Configuration

<!-- Made by \`npm run docs\` from src/shared/configSchema.ts. -->

One JSON5 file, and the environment over it. Every problem is named at once, and a start with a problem is refused.

- The file is \`signalbox.json5\` in the working directory, or what \`SIGNALBOX_CONFIG\` names. It may be absent.
- \`\${NAME}\` in a string takes the environment variable NAME; a missing one is an error.
- An unknown key is an error that names the nearest known one.
- An empty environment variable counts as none. The npm scripts read a file \`.env\` beside package.json too.

\`\`\`json5
{
  server: { host: "0.0.0.0", apiToken: "\${SIGNALBOX_API_TOKEN}", trustProxy: 1 },
  mongodb: { uri: "\${MONGODB_URI}" },
  redis: { url: "\${REDIS_URL}" },
  jobs: { staleAfterSeconds: 600 },
  retention: { completedAfter: "30d", failedAfter: "90d" },
}
\`\`\`

| key | environment | value | default | what it does |
|---|---|---|---|---|
${rows.join("\n")}

A duration is a whole number and a unit: \`s\`, \`m\`, \`h\`, \`d\` or \`w\`.
`;
}

function kind(node: ConfigNode): string {
  if (node.enum) return node.enum.map((one) => `\`${one}\``).join(", ");
  if (node.examples) return "duration";
  if (node.type === "integer") return `${node.minimum}–${node.maximum}`;
  return node.type === "boolean" ? "`true`, `false`" : "text";
}

const standard = (node: ConfigNode): string => (node.default === undefined ? "none" : `\`${node.default}\``);

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
  return `# Copy to .env, which the npm scripts read. Everything here is optional with \`npm start\`.
# Made by \`npm run docs\` from src/shared/configSchema.ts.

# Another configuration file than ./signalbox.json5.
#SIGNALBOX_CONFIG=

${lines.join("\n\n")}
`;
}
