import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createInterface } from "node:readline";
import { CodeChallengeMethod, OAuth2Client } from "google-auth-library";
import { StartError } from "../../shared/process/lifecycle.ts";
import { createTransporter, toLoginError } from "./googleAuth.ts";

/** Fields of the JSON file that Google's console creates for an OAuth client. */
export interface ConsentClient {
  readonly client_id: string;
  readonly client_secret: string;
}

export interface ConsentRequest {
  readonly client: ConsentClient;
  /** The account that Google's page suggests. The person may choose another one, which only Gmail's profile reveals. */
  readonly account: string;
  readonly scopes: readonly string[];
  /** Port on 127.0.0.1 for the redirect; 0 picks a free one. */
  readonly port: number;
  readonly timeoutMs: number;
  /** Replaces the address of Google's consent page. */
  readonly consentUrl?: string | undefined;
  /** Replaces Google's token endpoint. */
  readonly tokenUrl?: string | undefined;
  /** Called with the address of Google's page once the server for the redirect is listening. */
  readonly show: (address: string) => void;
  /** Input for pasting the address of the redirect, if the browser runs on another machine. */
  readonly pasted?: NodeJS.ReadableStream | undefined;
  /** Called if a pasted line is not such an address (`unreadable`), or if a redirect belongs to another request (`foreign`). */
  readonly onRefused?: (what: "unreadable" | "foreign") => void;
}

export interface Consent {
  readonly refreshToken: string;
  readonly scopes: readonly string[];
}

const CONSENT_URL = "https://accounts.google.com/o/oauth2/v2/auth";
const HOST = "127.0.0.1";
const PATH = "/consent";
const SUCCESS_PAGE = "You can close this window. The terminal shows the result.\n";
const FOREIGN_REDIRECT_PAGE = "This is not the answer that is waited for. Open the address that the terminal shows.\n";

/**
 * Asks a person for consent on Google's page and exchanges the resulting code for tokens: authorization code flow with PKCE,
 * with a redirect to this machine.
 * @throws StartError if consent is missing or incomplete; GoogleError if the login refuses the exchange
 */
export async function requestConsent(request: ConsentRequest): Promise<Consent> {
  const { client, scopes, account, show } = request;
  const oauth = new OAuth2Client({
    clientId: client.client_id,
    clientSecret: client.client_secret,
    endpoints: { oauth2AuthBaseUrl: request.consentUrl ?? CONSENT_URL },
    transporter: createTransporter(request.tokenUrl),
    useAuthRequestParameters: false,
  });
  const { codeVerifier, codeChallenge = "" } = await oauth.generateCodeVerifierAsync();
  const state = randomBytes(24).toString("base64url");
  let redirectUri = "";
  const redirect = await waitForRedirect(request, state, (uri) => {
    redirectUri = uri;
    show(
      oauth.generateAuthUrl({
        access_type: "offline",
        prompt: "consent",
        login_hint: account,
        scope: [...scopes],
        state,
        code_challenge: codeChallenge,
        code_challenge_method: CodeChallengeMethod.S256,
        redirect_uri: uri,
      }),
    );
  });
  const code = readCode(redirect);
  const { tokens } = await oauth.getToken({ code, codeVerifier, redirect_uri: redirectUri }).catch((thrown) => {
    throw toLoginError(thrown);
  });
  // A response without `scope` grants all requested scopes (RFC 6749, section 5.1).
  const granted = tokens.scope?.split(" ") ?? scopes;
  const missing = scopes.filter((scope) => !granted.includes(scope));
  if (missing.length > 0) {
    throw new StartError(`The consent does not hold all that is needed: run again and tick ${missing.join(" and ")}.`);
  }
  if (tokens.refresh_token) return { refreshToken: tokens.refresh_token, scopes: granted };
  throw new StartError(
    "Google gave no refresh token: remove this app at https://myaccount.google.com/connections and run again.",
  );
}

/**
 * Waits for the redirect, or for its address to be pasted. The first one with the right state counts; others are ignored,
 * since any program or page on this machine may send them.
 */
async function waitForRedirect(
  request: ConsentRequest,
  state: string,
  onListening: (uri: string) => void,
): Promise<URLSearchParams> {
  const { port, timeoutMs, pasted, onRefused } = request;
  const { promise, resolve, reject } = Promise.withResolvers<URLSearchParams>();
  const isForeign = (query: URLSearchParams) => query.get("state") !== state;
  let isTaken = false;
  let hasReportedForeign = false;
  const server = createServer((incoming, response) => {
    const query = incoming.method === "GET" ? readQuery(`http://${HOST}${incoming.url}`) : undefined;
    if (!query || isTaken) return void response.writeHead(404).end();
    const headers = { "Content-Type": "text/plain; charset=utf-8", "Cache-Control": "no-store", Connection: "close" };
    if (isForeign(query)) {
      if (!hasReportedForeign) onRefused?.("foreign");
      hasReportedForeign = true;
      return void response.writeHead(400, headers).end(FOREIGN_REDIRECT_PAGE);
    }
    isTaken = true;
    response.once("close", () => resolve(query));
    response.writeHead(200, headers).end(SUCCESS_PAGE);
  });
  server.listen(port, HOST);
  const lines = pasted && createInterface({ input: pasted });
  lines?.on("line", (line) => {
    const query = readQuery(line.trim());
    if (query && !isForeign(query)) resolve(query);
    else if (line.trim()) onRefused?.(query ? "foreign" : "unreadable");
  });
  const minutes = Math.ceil(timeoutMs / 60_000);
  const onTimeout = () => reject(new StartError(`There was no consent within ${minutes} minutes: run again.`));
  const timer = setTimeout(onTimeout, timeoutMs);
  try {
    await once(server, "listening");
    onListening(`http://${HOST}:${(server.address() as AddressInfo).port}${PATH}`);
    return await promise;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (!code) throw error;
    throw new StartError(`The port ${port} cannot be listened to (${code}): name another with --port.`);
  } finally {
    clearTimeout(timer);
    lines?.close();
    server.close();
    server.closeAllConnections();
  }
}

/** Returns the query of a redirect's address; undefined for any other text. */
function readQuery(address: string): URLSearchParams | undefined {
  const url = URL.parse(address);
  if (url?.pathname !== PATH) return undefined;
  return url.searchParams.has("code") || url.searchParams.has("error") ? url.searchParams : undefined;
}

function readCode(redirect: URLSearchParams): string {
  const error = redirect.get("error");
  if (error === null) return redirect.get("code") ?? "";
  const reason = /^\w{1,64}$/.test(error) ? error : "unknown reason";
  throw new StartError(
    `The consent was not given (${reason}): run again and allow it. Where Google itself refused it, add the account to the test users of the app, or publish the app.`,
  );
}
