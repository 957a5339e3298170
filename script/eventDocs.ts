import { toParts } from "../src/channels/markdown/parts.ts";
import { eventText } from "../src/workers/notify/eventText.ts";
import type { EventData, NotifyEvent } from "../src/workers/notify/notifyEvent.ts";
import { webhookBody } from "../src/workers/notify/webhookBody.ts";
import { EVENT_EXAMPLES, EVENT_TIME } from "./eventExamples.ts";

const PUBLIC_URL = "https://jobs.example.com";

type Type = keyof typeof EVENT_EXAMPLES;

/** Returns docs/reference/notification-events.md, which shows the body and the text of each event. */
export function eventDocs(): string {
  const types = Object.keys(EVENT_EXAMPLES) as Type[];
  const rows = types.map((type) => `| [\`${type}\`](#${anchorOf(type)}) | ${EVENT_EXAMPLES[type].when} |`);
  return `# Events of notifications

<!-- Made by \`npm run docs\` from script/eventExamples.ts and src/workers/notify. -->

A rule of [\`notify\`](configuration.md#notify) names these types in \`on\`. [Notifications](notifications.md) explains rules,
deliveries and limits.

| type | happens when |
|---|---|
${rows.join("\n")}

The body of a webhook has \`type\`, \`timestamp\` (when the event happened) and \`data\`. \`job\` and \`run\` have the fields of a list
row; \`include\` adds further parts to them. \`heldBack\` in \`data\` is the number of events that a \`cooldown\` has held back. A body
without included parts has less than 20 kB: longer texts in it are cut and end with \`…\`. Lists are cut after their first 20
items, and the form and the answer of a gate are null. Ids are never cut.

With \`format: "cloudevents"\` the body of the first event is this, with the media type \`application/cloudevents+json\`:

${jsonBlock(bodyOf("job.completed", "cloudevents"))}

${types.map(eventSection).join("\n\n")}
`;
}

/** Returns the heading of an event's section: letters only, so that every reader of Markdown makes the same anchor of it. */
const headingOf = (type: string): string => `${type[0]?.toUpperCase()}${type.slice(1).replace(".", " ")}`;

const anchorOf = (type: string): string => headingOf(type).toLowerCase().replace(" ", "-");

function eventSection(type: Type): string {
  return `## ${headingOf(type)}

${jsonBlock(bodyOf(type, "standard"))}

Text of a message without a \`template\`:

\`\`\`text
${textOf(type)}
\`\`\``;
}

const jsonBlock = (body: string): string => `\`\`\`json\n${JSON.stringify(JSON.parse(body), null, 2)}\n\`\`\``;

function bodyOf(type: Type, format: "standard" | "cloudevents"): string {
  const event = exampleEvent(type);
  return webhookBody(event, event.data, { format, source: `${PUBLIC_URL}/api`, hasIncluded: false }).body;
}

/** Returns the text as a chat without formatting shows it. */
function textOf(type: Type): string {
  const event = exampleEvent(type);
  const parts = toParts(eventText(event, undefined, PUBLIC_URL + event.path), {
    ...{ dialect: "plain", limit: 100_000, unit: "utf16" },
  } as const);
  return parts.map(({ plain }) => plain).join("\n");
}

function exampleEvent(type: Type): NotifyEvent {
  const { data } = EVENT_EXAMPLES[type];
  return {
    ...{ id: "697e3f1c5a2b4d0012c8e9f4", type, at: EVENT_TIME, data, path: pathOf(data) },
    ...{
      facts: {},
      subject: "",
      callbackUrl: undefined,
      announcedBy: [],
      asks: undefined,
      onlyRule: undefined,
      depth: 0,
    },
  };
}

function pathOf({ job, run, delivery }: EventData): string {
  if (job) return `/jobs/${encodeURIComponent(job.jobId)}`;
  if (run) return `/runs/${run.runId}`;
  return delivery ? "/deliveries" : "/";
}
