import { ERRORS } from "../../shared/errorCatalogue.ts";
import { html } from "../../shared/text/html.ts";
import { layout } from "./layout.ts";
import { described } from "./markdown.ts";

/** Returns the page to which the `type` of every error leads, with an anchor for each code. */
export function errorsPage(): string {
  const codes = Object.entries(ERRORS);
  const navigation = html`<ul>${codes.map(([code]) => html`<li><a href="#${code}">${code}</a></li>`)}</ul>`;
  const content = html`<h1>Errors</h1>
<p>Every error response is a JSON object with the media type <code>application/problem+json</code> (RFC 9457).
Programs should read <code>code</code>: codes are added and never renamed. <code>detail</code> describes the problem of
the request for people, and <code>errors</code> lists each invalid field or parameter. See also the
<a href="../guide/reference/errors">guide</a> and the <a href="../docs">API reference</a>.</p>
<dl class="fields">
${codes.map(
  ([
    code,
    { status, title, retry, fix },
  ]) => html`<div><dt id="${code}"><code>${code}</code> <span class="status">${status}</span></dt>
<dd>${described(`${title} ${fix} ${retry ? "The same request can succeed later." : "The same request fails again."}`)}</dd></div>
`,
)}</dl>`;
  return layout({ title: "Errors", root: "../", navigation, content });
}
