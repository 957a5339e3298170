import { readFileSync } from "node:fs";
import type { Command } from "commander";
import type { Registry } from "prom-client";
import { scopesOf, type ToolDefinition, toolsOf } from "../src/api/mcp/tools.ts";
import { addDependencyMetrics } from "../src/api/metrics/dependencyMetrics.ts";
import { addGmailMetrics } from "../src/api/metrics/gmailMetrics.ts";
import { Metrics } from "../src/api/metrics/metrics.ts";
import { allRoutes } from "../src/api/routes/all.ts";
import type { AnyRoute } from "../src/api/routing/route.ts";
import { toParts } from "../src/channels/markdown/parts.ts";
import { examplesOf } from "../src/cli/command.ts";
import { buildProgram } from "../src/cli/program.ts";
import { parseConfig } from "../src/config/load.ts";
import { SCOPES } from "../src/shared/access/scopes.ts";
import { ERRORS } from "../src/shared/errorCatalogue.ts";
import {
  ANY_NOTIFICATION_TYPES,
  type AnyNotificationType,
  NOTIFICATIONS,
  subjectPath,
} from "../src/shared/notifications/catalogue.ts";
import { SAMPLE_TIME } from "../src/shared/notifications/samples.ts";
import { AuditAction } from "../src/wire/audit.ts";
import { WorkerMetrics } from "../src/workers/metrics.ts";
import type { Notification, NotificationData } from "../src/workers/notify/notification.ts";
import { notificationText } from "../src/workers/notify/notificationText.ts";
import { webhookBody } from "../src/workers/notify/webhookBody.ts";
import { clientTypes } from "./clientTypes/published.ts";
import { configuration, environment } from "./configurationDocs.ts";
import { dependencies } from "./dependencyDocs.ts";
import { namesAt, requireSame, withRest, withRows } from "./docPage.ts";

const PROGRAM = await buildProgram(async () => ({}));

/** The pages with generated parts, and the function that renews them. */
const PAGES: Readonly<Record<string, (page: string) => string>> = {
  "docs/reference/configuration.md": configuration,
  "docs/reference/errors.md": errors,
  "docs/reference/cli.md": commandLine,
  "docs/reference/metrics.md": metrics,
  "docs/reference/notification-events.md": notificationEvents,
  "docs/reference/dependencies.md": dependencies,
  "docs/reference/scopes.md": scopes,
  "docs/reference/mcp.md": mcp,
  ".env.example": environment,
};

/** Returns the pages and the types of the clients as they must be, by path. `npm run docs` writes them; a test compares them. */
export function generatedDocs(): Record<string, string> {
  const pages = Object.entries(PAGES).map(([path, renew]) => [path, renew(readFileSync(path, "utf8"))]);
  return { ...Object.fromEntries(pages), ...clientTypes() };
}

function errors(page: string): string {
  const rows = Object.entries(ERRORS).map(
    ([code, { status, title, fix, retry }]) =>
      `| \`${code}\` | ${status} | ${title} | ${fix} | ${retry ? "yes" : "no"} |`,
  );
  return withRows(page, "| code | status |", rows);
}

function routes(): readonly AnyRoute[] {
  const { hooks } = parseConfig(undefined, {});
  return allRoutes({ ...hooks, enabled: true }, []);
}

const callOf = ({ method, path }: AnyRoute): string => `\`${method.toUpperCase()} ${path}\``;
const listed = (names: readonly string[]): string => names.map((name) => `\`${name}\``).join(" or ");

function scopes(page: string): string {
  requireSame("The table of scopes", namesAt(page, "| scope | allows |"), [...SCOPES, "hooks:NAME"]);
  requireSame("The table of the audit log", namesAt(page, "| action | is |"), AuditAction.enum);
  const calls = routes()
    .filter(({ scopes }) => scopes.length > 0)
    .map((route) => `| ${callOf(route)} | ${listed(route.scopes)} | ${route.summary} |`);
  return withRows(page, "| call | scope | does |", calls);
}

function mcp(page: string): string {
  const rows = toolsOf(routes()).map(
    (tool) =>
      `| \`${tool.name}\` | ${listed(scopesOf(tool))} | ${callOf(tool.route)} | ${hintOf(tool)} | ${tool.description} |`,
  );
  return withRows(page, "| tool | scope |", rows);
}

function hintOf({ annotations }: ToolDefinition): string {
  if (annotations.readOnlyHint) return "read-only";
  return annotations.destructiveHint ? "destructive" : annotations.idempotentHint ? "idempotent" : "none";
}

/** Renews the commands, as commander defines them. */
function commandLine(page: string): string {
  return withRest(page, "## Commands\n\n", `${leaves(PROGRAM).map(commandSection).join("\n\n")}\n`);
}

const leaves = (command: Command): Command[] =>
  command.registeredArguments.length > 0 || command.commands.length === 0
    ? [command, ...command.commands.flatMap(leaves)]
    : command.commands.flatMap(leaves);

function commandSection(command: Command): string {
  const help = command.createHelp();
  const row = (term: string, description: string) => `| \`${term}\` | ${description.replaceAll("|", "\\|")} |`;
  const rows = [
    ...command.registeredArguments.map((argument) => row(argument.name(), help.argumentDescription(argument))),
    ...help
      .visibleOptions(command)
      .filter(({ long }) => long !== "--help")
      .map((option) => row(option.flags, help.optionDescription(option))),
  ];
  const usage = help.commandUsage(command).replace(" [options]", "").replace(" [command]", "");
  const table = rows.length > 0 ? `\n\n| argument or option | |\n|---|---|\n${rows.join("\n")}` : "";
  const examples = `\`\`\`sh no-run\n${examplesOf(command).join("\n")}\n\`\`\``;
  return `### \`${usage}\`\n\n${command.description()}\n\n${examples}${table}`;
}

/** Renews the metrics that a web process and a worker process register. */
function metrics(page: string): string {
  const web = new Metrics(
    async () => [],
    async () => 0,
    () => 0,
    async () => 0,
    () => Promise.reject(new Error("no jobs are counted for the documentation")),
  );
  addGmailMetrics(web.registry, async () => null, { now: () => new Date(0) });
  addDependencyMetrics(web.registry, []);
  const withWeb = withRows(page, "## Web processes", metricRows(web.registry));
  return withRows(withWeb, "## Worker processes", metricRows(new WorkerMetrics().registry));
}

/** The properties of a metric that prom-client keeps, beyond its static types. */
interface MetricFields {
  readonly name: string;
  readonly type: string;
  readonly help: string;
  readonly labelNames: readonly string[];
}

function metricRows(registry: Registry): string[] {
  const metrics = registry.getMetricsAsArray() as unknown as MetricFields[];
  return metrics
    .filter(({ name }) => name.startsWith("signalbox_"))
    .map(({ name, type, labelNames, help }) => {
      return `| \`${name}\` | ${type} | ${labelNames.map((label) => `\`${label}\``).join(", ")} | ${help} |`;
    });
}

const PUBLIC_URL = "https://jobs.example.com";

/** Renews the list of the notifications, with the body and the text of each. */
function notificationEvents(page: string): string {
  const rows = ANY_NOTIFICATION_TYPES.map(
    (type) => `| [\`${type}\`](#${anchorOf(type)}) | ${NOTIFICATIONS[type].when} |`,
  );
  const sections = [jsonBlock(bodyOf("job.completed", "cloudevents")), ...ANY_NOTIFICATION_TYPES.map(eventSection)];
  return withRest(
    withRows(page, "| type | happens when |", rows),
    "with the media type `application/cloudevents+json`:\n\n",
    `${sections.join("\n\n")}\n`,
  );
}

/** Returns the heading of an event's section: letters only, so that every reader of Markdown makes the same anchor of it. */
const headingOf = (type: string): string => `${type[0]?.toUpperCase()}${type.slice(1).replace(".", " ")}`;

const anchorOf = (type: string): string => headingOf(type).toLowerCase().replace(" ", "-");

const jsonBlock = (body: string): string => `\`\`\`json\n${JSON.stringify(JSON.parse(body), null, 2)}\n\`\`\``;

function eventSection(type: AnyNotificationType): string {
  const words = "Text of a message without a `template`:";
  const body = jsonBlock(bodyOf(type, "standard"));
  return `## ${headingOf(type)}\n\n${body}\n\n${words}\n\n\`\`\`text\n${textOf(type)}\n\`\`\``;
}

function bodyOf(type: AnyNotificationType, format: "standard" | "cloudevents"): string {
  const event = exampleOf(type);
  const data = { ...event.data, url: PUBLIC_URL + subjectPath(type, event.data) };
  return webhookBody(event, data, { format, source: `${PUBLIC_URL}/api`, hasIncluded: false }).body;
}

/** Returns the text as a chat without formatting shows it. */
function textOf(type: AnyNotificationType): string {
  const event = exampleOf(type);
  const limits = { dialect: "plain", limit: 100_000, unit: "utf16" } as const;
  const url = PUBLIC_URL + subjectPath(type, event.data);
  return toParts(notificationText(event, undefined, url), limits)
    .map(({ plain }) => plain)
    .join("\n");
}

function exampleOf(type: AnyNotificationType): Pick<Notification, "id" | "type" | "at" | "subject" | "data"> {
  const data = NOTIFICATIONS[type].example as NotificationData;
  return { id: "697e3f1c5a2b4d0012c8e9f4", type, at: new Date(SAMPLE_TIME), subject: "", data };
}
