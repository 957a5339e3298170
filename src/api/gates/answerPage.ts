import type Router from "@koa/router";
import type { Context } from "koa";
import { gateTarget } from "../../models/audit.ts";
import type { GateDoc } from "../../models/gates/gate.ts";
import { formOf } from "../../models/gates/question.ts";
import { AppError } from "../../shared/errors.ts";
import { contentOf, nameAt, type Submitted, UTC } from "../../shared/form/form.ts";
import { sanitizeText } from "../../shared/text/sanitizeText.ts";
import { visibleName } from "../../shared/text/visibleName.ts";
import { ACTIONS, type Action } from "../../wire/gate.ts";
import { originOf } from "../auth/caller.ts";
import type { Refuse } from "../auth/refusals.ts";
import type { ApiDeps } from "../deps.ts";
import { publicPath } from "../middleware/basePath.ts";
import type { MemoryBudget } from "../middleware/memoryBudget.ts";
import { ANSWER_PATH } from "../middleware/requestLog.ts";
import { textBody } from "../middleware/textBody.ts";
import { closedPage, policy } from "../pages/plainPage.ts";
import { answerGate } from "./answerGate.ts";
import { answeredPage, questionPage } from "./pages.ts";

/** Maximum size of a submitted form in bytes. */
const FORM_LIMIT = 256 * 1024;
/** Maximum characters of a name, which leaves room for how it was given. */
const MAX_NAME_CHARS = 200;

const HEADERS = {
  "Cache-Control": "no-store",
  "Content-Security-Policy": policy(),
  "Content-Type": "text/html; charset=utf-8",
  "X-Robots-Tag": "noindex, nofollow",
};

/** A page that ends a request early. */
class PageError extends Error {
  readonly status: number;
  readonly body: string;
  constructor(status: number, body: string) {
    super("a page");
    this.status = status;
    this.body = body;
  }
}

interface PageDeps {
  readonly stores: ApiDeps["stores"];
  readonly bodies: MemoryBudget;
  readonly refuse: Refuse;
}

/**
 * Adds the page behind the link in a message. Its token is the whole authority: it needs no log-in and works without scripts. GET
 * shows the question and changes nothing, because previews and mail scanners open links. POST answers.
 */
export function mountAnswerPage(router: Router, deps: PageDeps): void {
  const readForm = textBody(FORM_LIMIT, deps.bodies);
  const path = `${ANSWER_PATH}/:token`;
  router.get(path, (ctx) => respond(ctx, async () => show(ctx, await findGate(ctx, deps))));
  router.post(path, (ctx) =>
    respond(ctx, async () => {
      rejectOtherSites(ctx);
      const gate = await findGate(ctx, deps);
      await readForm(ctx, async () => {});
      await answer(ctx, gate, new URLSearchParams(String(ctx.request.body)), deps);
    }),
  );
}

async function respond(ctx: Context, act: () => Promise<void>): Promise<void> {
  ctx.state.operation = `${ANSWER_PATH}/:token`;
  try {
    await act();
  } catch (error) {
    const { status, body } = error instanceof PageError ? error : errorPage(ctx, error);
    ctx.status = status;
    ctx.body = body;
  }
  ctx.set(HEADERS);
}

/** Returns the page of an error. @throws any error that is not of the catalogue, for the log */
function errorPage(ctx: Context, error: unknown): PageError {
  if (!(error instanceof AppError) || error.code === "internal") throw error;
  ctx.set(error.headers);
  ctx.state.code = error.code;
  const title = error.retry ? "Please try again later" : "The answer was not recorded";
  return new PageError(error.status, closedPage(title, error.message));
}

/**
 * Rejects a form that a page of another site has sent. Browsers send `Origin: null` here, because the page asks them to send no
 * referrer; then only the token decides.
 */
function rejectOtherSites(ctx: Context): void {
  const site = ctx.get("Sec-Fetch-Site");
  const origin = ctx.get("Origin");
  const isSame = site
    ? ["same-origin", "none"].includes(site)
    : ["", "null"].includes(origin) || URL.parse(origin)?.host === ctx.host;
  if (isSame) return;
  throw new PageError(
    403,
    closedPage(
      "The answer was not recorded",
      "It came from a page of another site. Open the link of your message, and answer there.",
    ),
  );
}

/** Returns the gate of the request's token, whatever its status. @throws PageError, AppError rate_limited, unavailable */
async function findGate(ctx: Context, { stores, refuse }: PageDeps): Promise<GateDoc> {
  const sealed = await stores.answerLinks.open(String(ctx.params.token));
  if (!sealed) {
    await refuse(ctx);
    const advice = "It may have been cut off: copy the whole link from your message.";
    throw new PageError(404, closedPage("This link is not valid", advice));
  }
  const { _id, job } = sealed;
  const gate = await stores.gates.findById(_id);
  if (!gate?.job.equals(job)) throw gone("This question no longer exists", "Its job was deleted.");
  if (gate.status === "withdrawn") throw gone("This question was withdrawn", "It needs no answer any more.");
  if (gate.status === "expired") throw gone("This question has expired", "It can no longer be answered.");
  return gate;
}

const gone = (title: string, text: string) => new PageError(410, closedPage(title, text));

async function show(ctx: Context, gate: GateDoc): Promise<void> {
  ctx.status = 200;
  ctx.body = gate.status === "answered" ? answeredPage(gate) : questionPage(gate);
}

async function answer(ctx: Context, gate: GateDoc, submitted: Submitted, deps: PageDeps): Promise<void> {
  const action = ACTIONS.find((one) => one === submitted.get("action"));
  if (gate.status === "answered") throw new PageError(409, answeredPage(gate));
  if (!action) throw new PageError(400, questionPage(gate, "Choose Accept, Decline or Dismiss.", { submitted }));
  const seen = submitted.get("revision");
  if (seen === null)
    throw new PageError(400, questionPage(gate, "Read the question, and answer with the form of this page."));
  const find = async () => {
    const current = await findGate(ctx, deps);
    if (current.status === "answered") throw new PageError(409, answeredPage(current));
    if (String(current.revision) === seen) return current;
    throw new PageError(409, questionPage(current, "The question has changed. Read it again before you answer."));
  };
  const { jobId, key } = await answerGate(deps.stores.gates, find, {
    action,
    ...contentFor(gate, action, submitted),
    answeredBy: nameOf(submitted),
  }).catch((error: unknown) => {
    throw error instanceof AppError && error.code === "invalid_body" ? rejected(gate, submitted, error) : error;
  });
  await deps.stores.audit.add({ actor: "anonymous", ...originOf(ctx) }, "gate.answer", gateTarget(jobId, key));
  ctx.redirect(publicPath(ctx));
  ctx.status = 303; // the browser shows the answer with GET, which can be reloaded
}

function contentFor({ requestedSchema }: GateDoc, action: Action, submitted: Submitted) {
  const schema = formOf(requestedSchema);
  return action === "accept" && schema ? { content: contentOf(schema, submitted, UTC) } : {};
}

/** Returns how the answer's author is recorded. Anybody who has the link may enter any name. */
function nameOf(submitted: Submitted): string {
  const name = visibleName(sanitizeText(submitted.get("answeredBy") ?? "").replaceAll("\n", " ")).slice(
    0,
    MAX_NAME_CHARS,
  );
  return name ? `${name.toWellFormed()} (by link)` : "link";
}

function rejected(gate: GateDoc, submitted: Submitted, { errors = [] }: AppError): PageError {
  const faults = new Map(errors.map(({ pointer = "", detail }) => [nameAt(pointer), detail]));
  const notice = "The answer was not recorded. Correct the marked fields.";
  return new PageError(400, questionPage(gate, notice, { submitted, faults }));
}
