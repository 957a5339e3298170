import { type Html, html } from "../../shared/text/html.ts";
import { page } from "../pages/plainPage.ts";
import type { FaultKind } from "./loginFault.ts";

/** A plain page in place of a log-in. None of them goes on by itself, so that no fault becomes a loop. */
export interface FaultPage {
  readonly status: number;
  readonly body: string;
}

/** Maximum groups that the page about missing roles names, and characters of each. */
const MAX_NAMED = 50;
const MAX_GROUP_CHARS = 100;

interface Text {
  readonly status: number;
  readonly title: string;
  readonly text: string;
}

const FAULTS: Readonly<Record<FaultKind | "state" | "browser" | "later", Text>> = {
  away: {
    status: 503,
    title: "The log-in provider cannot be reached",
    text: "Please try again later. Tokens go on working: the log-in page takes one meanwhile.",
  },
  clock: {
    status: 400,
    title: "The clocks differ too much",
    text: "The clock of this service and that of the log-in provider differ by more than a minute, so that nobody can log in. The operator has to correct the clock: signalbox doctor shows by how much it differs.",
  },
  issuer: {
    status: 400,
    title: "The log-in provider is another one",
    text: "The response names another issuer than server.oidc.issuer. The operator has to set it to the issuer that the discovery document of the provider names.",
  },
  denied: {
    status: 403,
    title: "The log-in was denied",
    text: "The log-in provider denied the access, or you cancelled the log-in.",
  },
  refused: {
    status: 400,
    title: "The log-in provider refused the log-in",
    text: "Please begin again. If it is refused again, the operator finds the reason in the log of this service: often the secret or the redirect address of the client is wrong.",
  },
  overage: {
    status: 403,
    title: "Your account is in too many groups",
    text: "The log-in provider sends groups only up to a limit, and names another source in _claim_names instead. The operator has to limit the groups to those that are assigned to this application.",
  },
  unverified: {
    status: 400,
    title: "The log-in could not be verified",
    text: "The response of the log-in provider failed a check, so that nobody was logged in. The log of this service names the check.",
  },
  state: {
    status: 400,
    title: "This log-in has ended",
    text: "The address belongs to no log-in, or to one that began more than ten minutes ago. Please begin again.",
  },
  browser: {
    status: 400,
    title: "This log-in began elsewhere",
    text: "It began in another browser, or it has been completed already. Please begin again.",
  },
  later: { status: 503, title: "Please try again later", text: "The service cannot complete a log-in now." },
};

/** Returns the page of a fault. @param base the path of the service */
export function faultPage(kind: keyof typeof FAULTS, base: string): FaultPage {
  const { status, title, text } = FAULTS[kind];
  return { status, body: page(title, html`<h1>${title}</h1><p>${text}</p>${toLogin(base)}`) };
}

/** Returns the page for a person without a role. It names what the operator has to add. */
export function noRolePage(name: string, claim: string, groups: readonly string[], base: string): FaultPage {
  const shown = groups.slice(0, MAX_NAMED).map((group) => html`<li>${group.slice(0, MAX_GROUP_CHARS)}</li>`);
  const rest = groups.length > shown.length && html`<p>And ${groups.length - shown.length} more.</p>`;
  const values =
    groups.length > 0
      ? html`<p>The claim <strong>${claim}</strong> has these values:</p><ol>${shown}</ol>${rest}`
      : html`<p>The claim <strong>${claim}</strong> is missing or empty: the provider has to send your groups in it.</p>`;
  const title = "You may not use this service";
  const body = html`<h1>${title}</h1>
<p>You are logged in at the provider as ${name}, and none of your groups has a role here.</p>
${values}
<p>The operator has to add one of them to <strong>server.oidc.roles</strong>, for example <code>${exampleOf(groups[0])}</code>, and then run <code>signalbox reload</code>.</p>
${toLogin(base)}`;
  return { status: 403, body: page(title, body) };
}

const exampleOf = (group = "sre"): Html =>
  html`{ groups: [${JSON.stringify(group.slice(0, MAX_GROUP_CHARS))}], scopes: ["jobs:read"] }`;

/** Returns the page after a log-out, which leads to no log-in by itself. */
export const endedPage = (base: string): string =>
  page("You are logged out", html`<h1>You are logged out</h1>${toLogin(base)}`);

/**
 * Returns the page after a log-in. It goes on by itself: a browser sends a cookie with SameSite=Strict only with requests that
 * begin at a page of this service, and not with a redirect from the provider.
 */
export const loggedInPage = (to: string): string =>
  page("Logged in", html`<h1>Logged in</h1><p><a href="${to}">Go on</a></p>`, `0; url=${to}`);

const toLogin = (base: string): Html => html`<p><a href="${base}/login">Go to the log-in page</a></p>`;
