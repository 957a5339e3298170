import type { Config } from "../../config/config.ts";
import { ask } from "./ask.ts";
import { type Finding, fail, ok, warn } from "./finding.ts";

/** How far the clocks may differ; the service refuses log-ins above a minute. */
const MAX_CLOCK_DIFFERENCE_S = 60;

/** Checks the provider of `server.oidc`: its discovery document, its clock, and whether it knows the address of the callback. */
export async function checkOidc({ server: { oidc, publicUrl } }: Config): Promise<Finding[]> {
  if (!oidc || publicUrl === undefined) return [];
  const address = `${oidc.issuer.replace(/\/$/, "")}/.well-known/openid-configuration`;
  const sentMs = Date.now();
  const response = await ask(address);
  if ("code" in response) {
    return [fail(`${address} cannot be reached (${response.code}): correct server.oidc.issuer, or the network.`)];
  }
  const { issuer, authorization_endpoint: endpoint } = response.body;
  const login = typeof endpoint === "string" ? URL.parse(endpoint) : null;
  if (response.status !== 200 || !login || !/^https?:$/.test(login.protocol)) {
    const found = `${address} answers with ${response.status} and no discovery document with an authorization_endpoint`;
    return [fail(`${found}: correct server.oidc.issuer.`)];
  }
  if (URL.parse(String(issuer))?.href !== new URL(oidc.issuer).href) {
    return [fail(`The provider names itself ${String(issuer)}: set server.oidc.issuer to that.`)];
  }
  const discovered = ok(`The provider ${oidc.issuer} answers.`);
  const clock = checkClock(response.headers.get("Date"), sentMs);
  return [discovered, ...clock, await checkCallback(login, oidc.clientId, publicUrl)];
}

/** Compares the clock with that of the provider, which states it to the second. */
function checkClock(date: string | null, sentMs: number): Finding[] {
  const theirsMs = Date.parse(date ?? "");
  if (Number.isNaN(theirsMs)) return [];
  const [earliest, latest] = [sentMs - 1_000, Date.now()];
  const seconds = Math.round(Math.max(earliest - theirsMs, theirsMs - latest, 0) / 1_000);
  if (seconds <= MAX_CLOCK_DIFFERENCE_S) return [ok("The clocks of this machine and of the provider agree.")];
  const side = theirsMs > latest ? "behind" : "ahead of";
  return [
    fail(`The clock of this machine is ${seconds} s ${side} that of the provider: nobody can log in. Correct it.`),
  ];
}

/**
 * Checks that the address of the callback is registered: a provider sends an error back to that address, and shows a page of its
 * own for another one. `prompt=none` asks for a log-in without any page.
 */
async function checkCallback(endpoint: URL, clientId: string, publicUrl: string): Promise<Finding> {
  const callback = `${publicUrl}/login/callback`;
  const url = new URL(endpoint);
  const query = { client_id: clientId, redirect_uri: callback, response_type: "code", scope: "openid", prompt: "none" };
  // providers may require a challenge; this one belongs to no log-in
  const challenge = { code_challenge: "A".repeat(43), code_challenge_method: "S256", state: "doctor", nonce: "doctor" };
  for (const [name, value] of Object.entries({ ...query, ...challenge })) url.searchParams.set(name, value);
  const response = await ask(url.href);
  if ("code" in response) return warn(`${url.host} cannot be reached (${response.code}): the log-in cannot begin.`);
  const location = URL.parse(response.headers.get("Location") ?? "");
  if (location && location.origin + location.pathname === callback) return ok(`The provider accepts ${callback}.`);
  const remedy = `register ${callback}, and ${publicUrl}/login/ended for the log-out`;
  if (response.status >= 400) {
    return fail(`The provider refuses ${callback} or the client ${clientId} (${response.status}): ${remedy}.`);
  }
  return warn(`The provider does not say whether it accepts ${callback}: ${remedy}.`);
}
