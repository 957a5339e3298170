import type { ClientAuth, Configuration, CustomFetch, IDToken, UserInfoResponse } from "openid-client";
import type { OidcConfig } from "../../config/access/people.ts";
import type { Clock } from "../../shared/clock.ts";
import { visibleName } from "../../shared/text/visibleName.ts";
import { faultOf, LoginFault } from "./loginFault.ts";
import type { Member } from "./session.ts";

/** The secrets of one log-in, by which the response of the provider belongs to the browser that began it. */
export interface Flow {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

/** How far the clocks of the service and of the provider may differ. */
const CLOCK_TOLERANCE_SECONDS = 60;
const TIMEOUT_SECONDS = 10;
/** How long the discovery document is used, and how long it is not asked for again after a failure. */
const DISCOVERED_MS = 3_600_000;
const FAILED_MS = 2_000;
/** Maximum codes that are exchanged at the same time. */
const MAX_EXCHANGES = 50;
const ADDRESS = /^[^\s@\p{Cc}\p{Cf}]{1,64}@[^\s@\p{Cc}\p{Cf}]{1,190}$/u;

/** Maximum bytes of an answer of the provider: groups of a person and keys take far less. */
const MAX_ANSWER_BYTES = 1024 * 1024;

/** Sends a request to the provider. The body of an answer that is too long fails, as one that breaks off. */
async function limitedFetch(...request: Parameters<CustomFetch>): Promise<Response> {
  const response = await fetch(...(request as Parameters<typeof fetch>));
  let bytes = 0;
  const limit = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      bytes += chunk.length;
      if (bytes > MAX_ANSWER_BYTES) controller.error(new TypeError("The answer of the provider is too long."));
      else controller.enqueue(chunk);
    },
  });
  return response.body ? new Response(response.body.pipeThrough(limit), response) : response;
}

/** Loads the library with the first log-in, so that a process without one starts quickly. */
const load = () => import("openid-client");

/** The company's provider: OpenID Connect with an authorization code. */
export class Provider {
  readonly #settings: OidcConfig;
  readonly #publicUrl: string;
  readonly #clock: Clock;
  #exchanges = 0;
  #found: { until: number; readonly configuration: Promise<Configuration> } | undefined;

  constructor(settings: OidcConfig, publicUrl: string, clock: Clock) {
    this.#settings = settings;
    this.#publicUrl = publicUrl;
    this.#clock = clock;
  }

  /** Returns the address at the provider where a log-in begins. @throws LoginFault */
  async begin({ state, nonce, verifier }: Flow): Promise<URL> {
    const { buildAuthorizationUrl, calculatePKCECodeChallenge } = await load();
    const challenge = await calculatePKCECodeChallenge(verifier);
    return this.#withProvider((configuration) => {
      const scopes = textsIn(configuration.serverMetadata().scopes_supported);
      return buildAuthorizationUrl(configuration, {
        redirect_uri: `${this.#publicUrl}/login/callback`,
        // a provider without the scope refuses a request with it
        scope: `openid profile email${scopes.includes("groups") ? " groups" : ""}`,
        code_challenge: challenge,
        code_challenge_method: "S256",
        state,
        nonce,
      });
    });
  }

  /**
   * Exchanges the code of a response for the person who has logged in.
   * @param search the query of the request to `/login/callback`
   * @throws LoginFault
   */
  async complete(search: string, flow: Flow): Promise<{ member: Member; idToken: string }> {
    if (this.#exchanges >= MAX_EXCHANGES) throw new LoginFault("away", "too many log-ins wait for the provider");
    this.#exchanges++;
    try {
      return await this.#withProvider((configuration) => this.#exchange(configuration, search, flow));
    } finally {
      this.#exchanges--;
    }
  }

  async #exchange(configuration: Configuration, search: string, { state, nonce, verifier }: Flow) {
    const { authorizationCodeGrant, fetchUserInfo } = await load();
    const url = new URL(`${this.#publicUrl}/login/callback`);
    url.search = search;
    const startedMs = this.#clock.now().getTime();
    const checks = { pkceCodeVerifier: verifier, expectedState: state, expectedNonce: nonce, idTokenExpected: true };
    const tokens = await authorizationCodeGrant(configuration, url, checks);
    const claims = tokens.claims() as IDToken;
    this.#checkClock(claims.iat * 1_000, startedMs);
    const { groupsClaim } = this.#settings;
    const needsMore = !Object.hasOwn(claims, groupsClaim) && configuration.serverMetadata().userinfo_endpoint;
    const more = needsMore ? await fetchUserInfo(configuration, tokens.access_token, claims.sub) : undefined;
    return { member: memberOf(claims, more, groupsClaim), idToken: tokens.id_token as string };
  }

  /**
   * Returns the address at the provider where a log-out ends; null if the provider has none.
   * @param idToken tells the provider whose log-out it is
   * @throws LoginFault
   */
  async end(idToken: string | undefined): Promise<URL | null> {
    const { buildEndSessionUrl } = await load();
    return this.#withProvider((configuration) => {
      if (!configuration.serverMetadata().end_session_endpoint) return null;
      return buildEndSessionUrl(configuration, {
        post_logout_redirect_uri: `${this.#publicUrl}/login/ended`,
        ...(idToken !== undefined && { id_token_hint: idToken }),
      });
    });
  }

  /** The provider has issued the token during the exchange, so that its time shows how far the clocks differ. */
  #checkClock(issuedMs: number, startedMs: number): void {
    const toleranceMs = CLOCK_TOLERANCE_SECONDS * 1_000;
    // The time of a token is cut to whole seconds.
    if (issuedMs > startedMs - toleranceMs - 1_000 && issuedMs <= this.#clock.now().getTime() + toleranceMs) return;
    throw new LoginFault("clock", `the ID token was issued ${Math.round((issuedMs - startedMs) / 1_000)} s from now`);
  }

  /** Returns what an act makes of the discovery document, any part of which may be invalid. @throws LoginFault for every error */
  async #withProvider<T>(act: (configuration: Configuration) => T | Promise<T>): Promise<T> {
    try {
      return await act(await this.#discovered());
    } catch (error) {
      throw faultOf(error);
    }
  }

  async #discovered(): Promise<Configuration> {
    const now = this.#clock.now().getTime();
    if (!this.#found || now >= this.#found.until) {
      const found = { until: now + DISCOVERED_MS, configuration: this.#discover() };
      this.#found = found;
      found.configuration.catch(() => (found.until = this.#clock.now().getTime() + FAILED_MS));
    }
    return this.#found.configuration;
  }

  async #discover(): Promise<Configuration> {
    const client = await load();
    const { issuer, clientId, clientSecret } = this.#settings;
    const metadata = {
      [client.clockTolerance]: CLOCK_TOLERANCE_SECONDS,
      [client.clockSkew]: Math.round((this.#clock.now().getTime() - Date.now()) / 1_000),
    };
    // the configuration accepts http for loopback only
    const insecure = issuer.startsWith("http:") ? [client.allowInsecureRequests] : [];
    return client.discovery(new URL(issuer), clientId, metadata, clientAuth(client, clientSecret), {
      [client.customFetch]: limitedFetch,
      timeout: TIMEOUT_SECONDS,
      execute: [client.enableNonRepudiationChecks, ...insecure],
    });
  }
}

/** Returns how the service authenticates at the provider: as it prefers where the provider takes both forms. */
function clientAuth(client: Awaited<ReturnType<typeof load>>, secret: string | undefined): ClientAuth {
  if (secret === undefined) return client.None();
  const [basic, post] = [client.ClientSecretBasic(secret), client.ClientSecretPost(secret)];
  return (server, ...rest) => {
    const methods = textsIn(server.token_endpoint_auth_methods_supported);
    return (methods.length === 0 || methods.includes("client_secret_basic") ? basic : post)(server, ...rest);
  };
}

type Claims = IDToken | UserInfoResponse;

/** Returns the person whom the claims describe. @throws LoginFault */
function memberOf(claims: IDToken, more: UserInfoResponse | undefined, groupsClaim: string): Member {
  const sources = [claims, ...(more ? [more] : [])];
  const holder = sources.find((source) => Object.hasOwn(source, groupsClaim));
  if (!holder && sources.some(({ _claim_names: names }) => Object.hasOwn(Object(names), groupsClaim))) {
    throw new LoginFault("overage", `the claim ${groupsClaim} is only in _claim_names`);
  }
  const text = (name: string): string => {
    const value = sources.map((source) => source[name]).find((one) => typeof one === "string");
    return visibleName(value as string | undefined);
  };
  const email = sources.map(verifiedEmail).find((address) => address !== null) ?? null;
  const name = text("name") || text("preferred_username") || email || claims.sub;
  return { subject: visibleName(claims.sub), email, name, groups: textsIn(holder?.[groupsClaim]) };
}

/** Some providers send the claim as text. */
const verifiedEmail = ({ email, email_verified: verified }: Claims): string | null =>
  [true, "true"].includes(verified as boolean | string) && typeof email === "string" && ADDRESS.test(email)
    ? email.toLowerCase()
    : null;

/** Returns the texts of a list, or the one text, that a provider has sent. */
const textsIn = (value: unknown): string[] => [value].flat().filter((text) => typeof text === "string");
