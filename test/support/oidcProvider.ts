import { createHash, randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from "jose";

/** The ways in which a test can change what the provider answers. */
interface Behaviour {
  /** The claims of the ID token. */
  claims: JWTPayload;
  /** The claims of the userinfo response besides the subject; null if the provider has no such endpoint. */
  userinfo: JWTPayload | null;
  /** Changes the discovery document. */
  discovery: Record<string, unknown>;
  /** The error with which the log-in ends in place of a code. */
  error: string | null;
  /** Seconds by which the clock of the provider is ahead. */
  aheadSeconds: number;
  /** Signs with a key that the provider does not publish. */
  foreignKey: boolean;
  /** Answers every request with the status 503. */
  isAway: boolean;
  /** The path whose answers have 2 MB more than usual; null for none. */
  padded: string | null;
  /** The only address of a callback that the provider accepts; null for any. */
  callback: string | null;
}

export interface OidcProvider extends Behaviour {
  readonly issuer: string;
  /** The paths that were requested. */
  readonly requests: string[];
  close(): Promise<void>;
}

interface Code {
  readonly challenge: string;
  readonly redirectUri: string;
  readonly nonce: string;
}

/** The client that the provider knows. */
export const CLIENT = { clientId: "signalbox", clientSecret: "the secret of the client/+" };

/** Starts a provider of OpenID Connect that logs everybody in at once, with the claims that the test sets. */
export async function startOidcProvider(path = ""): Promise<OidcProvider> {
  const [known, foreign] = await Promise.all([generateKeyPair("RS256"), generateKeyPair("RS256")]);
  const jwk = { ...(await exportJWK(known.publicKey)), kid: "1", alg: "RS256", use: "sig" };
  const padded = new Set<ServerResponse>();
  const send = (res: ServerResponse, status: number, body: object) =>
    sendJson(res, status, padded.has(res) ? { ...body, padding: "x".repeat(2_000_000) } : body);
  const codes = new Map<string, Code>();
  const server = createServer((req, res) => void answer(req, res).catch((error) => res.destroy(error)));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  // another host than that of the services, so that browsers treat the two as different sites
  const issuer = `http://localhost:${(server.address() as AddressInfo).port}${path}`;
  const provider: OidcProvider = {
    issuer,
    requests: [],
    claims: { sub: "ann", name: "Ann", email: "ann@example.com", email_verified: true, groups: ["sre"] },
    userinfo: null,
    discovery: {},
    error: null,
    aheadSeconds: 0,
    foreignKey: false,
    isAway: false,
    padded: null,
    callback: null,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };

  async function answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const url = new URL(req.url ?? "", issuer);
    const name = url.pathname.slice(path.length);
    provider.requests.push(name);
    if (name === provider.padded) padded.add(res);
    res.setHeader("Connection", "close");
    res.setHeader("Date", new Date(Date.now() + provider.aheadSeconds * 1_000).toUTCString());
    if (provider.isAway) return send(res, 503, { error: "away" });
    if (name === "/.well-known/openid-configuration") return send(res, 200, discovery());
    if (name === "/jwks") return send(res, 200, { keys: [jwk] });
    if (name === "/authorize") {
      const isKnown = [null, url.searchParams.get("redirect_uri")].includes(provider.callback);
      return isKnown ? redirect(res, authorize(url.searchParams)) : send(res, 400, { error: "unknown redirect_uri" });
    }
    if (name === "/userinfo") return send(res, 200, { sub: provider.claims.sub, ...provider.userinfo });
    if (name === "/end") return redirect(res, url.searchParams.get("post_logout_redirect_uri") ?? "");
    if (name === "/token") return exchange(req, res);
    return send(res, 404, {});
  }

  const discovery = () => ({
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    jwks_uri: `${issuer}/jwks`,
    end_session_endpoint: `${issuer}/end`,
    scopes_supported: ["openid", "groups"],
    ...(provider.userinfo && { userinfo_endpoint: `${issuer}/userinfo` }),
    ...provider.discovery,
  });

  function authorize(query: URLSearchParams): string {
    const get = (key: string) => query.get(key) ?? "";
    const response = new URL(get("redirect_uri"));
    const code = randomUUID();
    codes.set(code, { challenge: get("code_challenge"), redirectUri: response.href, nonce: get("nonce") });
    response.searchParams.set("state", get("state"));
    if (provider.error) response.searchParams.set("error", provider.error);
    else response.searchParams.set("code", code);
    return response.href;
  }

  async function exchange(req: IncomingMessage, res: ServerResponse): Promise<void> {
    let text = "";
    for await (const chunk of req) text += chunk;
    const body = new URLSearchParams(text);
    const [id = "", secret = ""] = Buffer.from((req.headers.authorization ?? "").replace(/^Basic /, ""), "base64")
      .toString()
      .split(":")
      .map((part) => decodeURIComponent(part.replaceAll("+", " ")));
    if (id !== CLIENT.clientId || secret !== CLIENT.clientSecret) return send(res, 401, { error: "invalid_client" });
    const code = codes.get(body.get("code") ?? "");
    codes.delete(body.get("code") ?? "");
    const challenge = createHash("sha256")
      .update(body.get("code_verifier") ?? "")
      .digest("base64url");
    if (code?.challenge !== challenge || code.redirectUri !== body.get("redirect_uri")) {
      return send(res, 400, { error: "invalid_grant" });
    }
    const now = Math.floor(Date.now() / 1_000) + provider.aheadSeconds;
    const claims = {
      iss: issuer,
      aud: CLIENT.clientId,
      nonce: code.nonce,
      iat: now,
      exp: now + 300,
      ...provider.claims,
    };
    const key = provider.foreignKey ? foreign : known;
    const idToken = await new SignJWT(claims).setProtectedHeader({ alg: "RS256", kid: "1" }).sign(key.privateKey);
    send(res, 200, { access_token: "access", token_type: "Bearer", id_token: idToken });
  }

  return provider;
}

function sendJson(res: ServerResponse, status: number, body: object): void {
  res.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(body));
}

const redirect = (res: ServerResponse, location: string): void => void res.writeHead(303, { Location: location }).end();
