import { type Html, html } from "../../shared/text/html.ts";
import type { Content, OpenApi, Operation, Parameter } from "./document.ts";
import { described } from "./markdown.ts";
import { describeField, nameOf, shape } from "./schema.ts";

/** Returns the section of an operation: its parameters, bodies and responses, with a request as a curl command. */
export function describeOperation(method: string, path: string, operation: Operation, document: OpenApi): Html {
  const { operationId, summary, description, parameters = [], requestBody, responses, security } = operation;
  const answers = Object.entries(responses);
  return html`<section class="operation" id="${operationId}" aria-labelledby="${operationId}-title">
<h3 id="${operationId}-title">${summary}</h3>
<p class="endpoint"><span class="method">${method.toUpperCase()}</span> <code>${path}</code></p>
${described(description)}
${security?.length === 0 && html`<p class="access">Needs no token.</p>`}
${example(`Request of ${operationId}`, curl(method, path, operation))}
${(["path", "query", "header"] as const).map((place) => describeParameters(operationId, place, parameters))}
${requestBody && html`<h4>Body</h4>${describeContent(requestBody.content, document.components.schemas)}`}
<h4>Responses</h4>
${answers.filter(([status]) => status < "400").map((answer) => describeResponse(operationId, ...answer))}
<dl class="errors">${answers.filter(([status]) => status >= "400").map(describeError)}</dl>
</section>
`;
}

const HEADINGS = { path: "Path", query: "Query", header: "Headers" } as const;

function describeParameters(operationId: string, place: Parameter["in"], all: readonly Parameter[]): Html {
  const some = all.filter((parameter) => parameter.in === place);
  if (some.length === 0) return html``;
  return html`<h4 id="${operationId}-${place}">${HEADINGS[place]}</h4>
<dl class="fields">
${some.map(({ name, schema, required, description }) => describeField(name, schema, required, description))}</dl>
`;
}

/** Returns the schemas of a body. @param named the named schemas to describe in place, instead of by a link */
const describeContent = (content: Content, named: OpenApi["components"]["schemas"] = {}): Html =>
  html`${Object.values(content).flatMap(({ schema }) => (schema ? [shape(named[nameOf(schema)] ?? schema)] : []))}`;

function describeResponse(
  operationId: string,
  status: string,
  { description, content = {} }: Operation["responses"][string],
): Html {
  const examples = Object.entries(content).filter(([, one]) => one.example !== undefined);
  const text = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value, null, 2));
  return html`<h5><span class="status">${status}</span> ${description}</h5>
${describeContent(content)}
${examples.map(([type, one]) => example(`Response ${status} of ${operationId}, ${type}`, text(one.example)))}`;
}

const describeError = ([status, { description }]: [string, { description: string }]): Html =>
  html`<div><dt><span class="status">${status}</span></dt><dd>${described(description)}</dd></div>`;

/** Returns a listing that the keyboard can scroll. */
const example = (label: string, text: string): Html =>
  html`<pre tabindex="0" role="region" aria-label="${label}">${text}</pre>`;

/** Returns a request as a command for a shell, with the example of the description. */
function curl(method: string, path: string, operation: Operation): string {
  const { parameters = [], requestBody, security } = operation;
  const filled = path.replace(/\{(\w+)\}/g, (place, name) => {
    const value = parameters.find((parameter) => parameter.name === name)?.example;
    return value === undefined ? place : encodeURIComponent(String(value));
  });
  const [type, body] = Object.entries(requestBody?.content ?? {})[0] ?? [];
  const text = typeof body?.example === "string" ? body.example : JSON.stringify(body?.example, null, 2);
  return [
    `curl ${method === "get" ? "" : `-X ${method.toUpperCase()} `}"$SIGNALBOX_URL${filled}"`,
    security?.length !== 0 && `-H "Authorization: Bearer $SIGNALBOX_TOKEN"`,
    text !== undefined && `-H "Content-Type: ${type}"`,
    text !== undefined && `-d '${text.replaceAll("'", `'\\''`)}'`,
  ]
    .filter((part) => part !== false)
    .join(" \\\n  ");
}
