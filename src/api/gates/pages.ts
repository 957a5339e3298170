import type { GateDoc } from "../../models/gates/gate.ts";
import { formOf } from "../../models/gates/question.ts";
import { unpackObject } from "../../models/jobs/freeObject.ts";
import { enteredRows, formFields, type Submitted, UTC } from "../../shared/form/form.ts";
import { type Html, html } from "../../shared/text/html.ts";
import { page, when } from "../pages/plainPage.ts";

const question = ({ title, message }: GateDoc): Html =>
  html`<h1>${title}</h1>${message && html`<p class="text">${message}</p>`}`;

const DECISIONS = { accept: "Accepted", decline: "Declined", cancel: "Dismissed" } as const;

/** The entries that are shown again of a form that was not accepted. */
interface Rejected {
  readonly submitted: Submitted;
  /** The error of each field, by its name in the schema. */
  readonly faults?: ReadonlyMap<string, string>;
}

/** Returns the page with the question and its form. @param notice what a person must read first; set if the form was rejected */
export function questionPage(gate: GateDoc, notice?: string, rejected?: Rejected): string {
  const schema = formOf(gate.requestedSchema);
  const name = rejected?.submitted.get("answeredBy") ?? "";
  return page(
    notice ? `Not recorded: ${gate.title}` : gate.title,
    html`${question(gate)}
<p class="muted">Job ${gate.jobId}. Asked ${when(gate.createdAt)}.${gate.expiresAt && html` Answer before ${when(gate.expiresAt)}.`}</p>
${gate.expiresAt && html`<p class="muted">Without an answer by then, it counts as ${DECISIONS[gate.onExpiry].toLowerCase()}.</p>`}
${notice && html`<p class="fault" role="alert">${notice}</p>`}
<form method="post">
<input type="hidden" name="revision" value="${gate.revision}">
${schema && formFields(schema, { times: UTC, entered: rejected?.submitted, faults: rejected?.faults })}
<div class="field"><label for="by">Your name <span class="muted">(optional)</span></label><input id="by" name="answeredBy" type="text" maxlength="200" autocomplete="name" value="${name}"></div>
<div class="buttons">
<button name="action" value="accept">Accept</button>
<button name="action" value="decline" formnovalidate>Decline</button>
<button name="action" value="cancel" formnovalidate>Dismiss</button>
</div>
</form>`,
  );
}

/** Returns the page with the answer that was given, and by whom. */
export function answeredPage(gate: GateDoc): string {
  const decision = DECISIONS[gate.action ?? "cancel"];
  const rows = enteredRows(formOf(gate.requestedSchema) ?? { properties: {} }, unpackObject(gate.content) ?? {});
  return page(
    `${decision}: ${gate.title}`,
    html`${question(gate)}
<p role="status"><strong>${decision}</strong> by ${gate.answeredBy}${gate.answeredAt && html`, ${when(gate.answeredAt)}`}. The answer is recorded; you can close this page.</p>
${rows.length > 0 && html`<dl>${rows.map(({ title, value }) => html`<dt>${title}</dt><dd>${value}</dd>`)}</dl>`}`,
  );
}
