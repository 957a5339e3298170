import { html } from "../../shared/text/html.ts";
import { type OpenApi, type Operation, SERVICE_URL } from "./document.ts";
import { layout } from "./layout.ts";
import { described } from "./markdown.ts";
import { describeOperation } from "./operation.ts";
import { schemaId, shape } from "./schema.ts";

/** Returns the API reference as a page without scripts, made of the OpenAPI document. */
export function referencePage(document: OpenApi): string {
  const { info, tags, components } = document;
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );
  const groups = tags.map((tag) => ({
    ...tag,
    operations: operations.filter(({ operation }) => operation.tags.includes(tag.name)),
  }));
  const schemas = Object.entries(components.schemas);
  const navigation = html`${groups.map(
    ({ name, operations }) => html`<details open><summary>${heading(name)}</summary><ul>
${operations.map(({ operation }) => link(operation))}</ul></details>
`,
  )}<details><summary>Schemas</summary><ul>
${schemas.map(([name]) => html`<li><a href="#${schemaId(name)}">${name}</a></li>`)}</ul></details>`;
  const content = html`<h1>API reference</h1>
${described(info.description)}
<p>Version ${info.version}. Code generators read <a href="openapi.json">openapi.json</a>. The examples use two variables:</p>
<pre tabindex="0" role="region" aria-label="Variables">export SIGNALBOX_URL=${SERVICE_URL}
export SIGNALBOX_TOKEN=…   # not needed while the service has no token</pre>
${groups.map(
  ({ name, description, operations }) => html`<h2 id="tag-${name}">${heading(name)}</h2>
${described(description)}
${operations.map(({ method, path, operation }) => describeOperation(method, path, operation, document))}`,
)}
<h2 id="schemas">Schemas</h2>
${schemas.map(
  ([name, schema]) => html`<section aria-labelledby="${schemaId(name)}"><h3 id="${schemaId(name)}">${name}</h3>
${shape(schema)}</section>
`,
)}`;
  return layout({ title: "API reference", root: "", navigation, content });
}

const heading = (tag: string): string => (tag === "mcp" ? "MCP" : tag.charAt(0).toUpperCase() + tag.slice(1));

const link = ({ operationId, summary }: Operation) => html`<li><a href="#${operationId}">${summary}</a></li>
`;
