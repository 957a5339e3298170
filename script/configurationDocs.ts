import JSON5 from "json5";
import { TokenSchema } from "../src/config/access/tokens.ts";
import { AgentSchema } from "../src/config/agents/agent.ts";
import { BudgetSchema } from "../src/config/agents/budget.ts";
import { ConfigSchema, configKeys, isSection } from "../src/config/config.ts";
import { MappingSchema } from "../src/config/mappings/mapping.ts";
import type { ConfigNode } from "../src/config/nodes.ts";
import { NotifySchemas, RuleSchema } from "../src/config/notify.ts";
import { DURATION_PATTERN } from "../src/shared/text/duration.ts";
import { withRest } from "./docPage.ts";

/** Renews the keys of docs/reference/configuration.md, a section of the page for each section of the configuration. */
export function configuration(page: string): string {
  const sections = Object.entries((ConfigSchema as ConfigNode).properties ?? {}).map(([name, node]) => {
    const words = isSection(node) ? `${node.description}\n\n` : "";
    const rows = configKeys({ properties: { [name]: node } }).map(([key, one]) => row(key, one));
    return `## ${name}\n\n${words}${HEADING}\n${rows.join("\n")}${itemsOf(name)}`;
  });
  return withRest(page, "For example `90s` or `30d`.\n\n", `${sections.join("\n\n")}\n`);
}

/** Renews the variables of .env.example. */
export function environment(page: string): string {
  const keys = configKeys().filter(([, node]) => node.env);
  const lines = keys.map(([key, node]) => `# ${node.description} (${key})\n#${node.env}=${node.default ?? ""}`);
  return withRest(page, "#SIGNALBOX_CONFIG=\n\n", `${lines.join("\n\n")}\n`);
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
    case "agents":
      return (
        items("Keys of an agent", "An entry of `agents.list` overrides these settings.\n\n", AgentSchema) +
        items("Keys of a budget", "[Budgets](../how-to/set-budgets.md) explains them.\n\n", BudgetSchema)
      );
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
