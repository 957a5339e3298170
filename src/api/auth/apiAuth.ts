import { createHmac, randomBytes } from "node:crypto";
import type { Context, Middleware, Next } from "koa";
import type { EndedLogins } from "../../models/endedLogin.ts";
import type { Clock } from "../../shared/clock.ts";
import { AppError } from "../../shared/errors.ts";
import { secretsEqual } from "../../shared/secretsEqual.ts";
import { publicPath } from "../middleware/basePath.ts";
import { bearerToken, type CountFailure, headerTokens, TokenVerifier } from "./tokenVerifier.ts";

/** The permissions of a caller under `/api`. */
export type Access = "full" | "read";

export interface ApiAuthSettings {
  readonly apiToken?: string | undefined;
  /** Grants reading only. */
  readonly readOnlyToken?: string | undefined;
  /** Grants reading single runs, without their requests. */
  readonly hookToken?: string | undefined;
  readonly countFailure: CountFailure;
}

/** The caller of a route under `/api`. */
export interface ApiCaller {
  /** True when only the hook token authenticated the request. */
  readonly byHookToken: boolean;
  /** Set when a browser's cookie authenticated the request. */
  readonly login?: Login;
}

/** A browser's log-in, for routes whose responses outlast the check of the cookie. */
export interface Login {
  readonly cookie: string;
  readonly expiresAt: Date;
}

/** The input of the log-in's routes. */
export interface LoginContext {
  readonly needsToken: boolean;
  /** Null when the browser has to log in first. */
  readonly access: Access | null;
  /** Returns the Set-Cookie header for a valid token. @throws AppError unauthorized, rate_limited */
  logIn(token: string): Promise<string>;
  /** The cookie of this browser, whether it is valid or not. */
  readonly cookie: string | undefined;
  /** Invalidates the cookie of this browser and returns the Set-Cookie header that removes it. @throws AppError unavailable */
  logOut(): Promise<string>;
}

interface Authentication {
  /** Null when the request carries no valid token and no valid cookie. */
  readonly access: Access | null;
  /** Whether a token in the header granted the access. */
  readonly byHeader: boolean;
  /** Set when a cookie granted the access. */
  readonly login?: Login;
}

export const LOGIN_PATH = "/session";
const COOKIE = "signalbox_session";
const COOKIE_MAX_AGE_SECONDS = 30 * 86_400;
const ADVICE = "Send the API token in the header `Authorization: Bearer <token>`.";

/**
 * Authenticates requests to the API and the dashboard: by a token in the header, or by the cookie that a browser received
 * for one. When no token is configured, every caller has full access, but pages of other sites may not change anything.
 */
export class ApiAuth {
  readonly #tokens: readonly { readonly access: Access; readonly token: string; readonly verifier: TokenVerifier }[];
  /** Accepts no token: rejects callers that none of the others accepted. */
  readonly #rejecter: TokenVerifier;
  readonly #hookToken: TokenVerifier;
  readonly #clock: Clock;
  readonly #endedLogins: EndedLogins;

  constructor(
    { apiToken, readOnlyToken, hookToken, countFailure }: ApiAuthSettings,
    clock: Clock,
    endedLogins: EndedLogins,
  ) {
    const options = { extractTokens: bearerToken, countFailure, advice: ADVICE };
    const configured = [
      { access: "full" as const, token: apiToken },
      { access: "read" as const, token: readOnlyToken },
    ];
    this.#tokens = configured.flatMap(({ access, token }) =>
      token === undefined ? [] : [{ access, token, verifier: new TokenVerifier([token], options) }],
    );
    this.#rejecter = new TokenVerifier([], options);
    this.#hookToken = new TokenVerifier(hookToken === undefined ? [] : [hookToken], {
      ...options,
      extractTokens: headerTokens,
    });
    this.#clock = clock;
    this.#endedLogins = endedLogins;
  }

  /** Whether a token is configured, so that browsers have to log in. */
  get needsToken(): boolean {
    return this.#tokens.length > 0;
  }

  /** Authenticates requests under `/api`. @throws AppError unauthorized, rate_limited, forbidden */
  readonly authenticate: Middleware = async (ctx, next) => this.#authorize(ctx, next, await this.#authenticate(ctx));

  #authorize(ctx: Context, next: Next, { access, byHeader, login }: Authentication): Promise<unknown> {
    const reads = ["GET", "HEAD", "OPTIONS"].includes(ctx.method);
    if (access === null) {
      if (!isRunPath(ctx) || !reads || !this.#hookToken.verifyRequest(ctx)) return this.#rejecter.reject(ctx);
      ctx.state.authContext = { byHookToken: true } satisfies ApiCaller;
      return next();
    }
    if (!reads && !byHeader) rejectCrossSite(ctx);
    if (!reads && access === "read")
      throw new AppError("forbidden", { detail: "This token is read-only. Use server.apiToken to make changes." });
    ctx.state.authContext = { byHookToken: false, ...(login && { login }) } satisfies ApiCaller;
    return next();
  }

  /** Authenticates requests for a page outside `/api`, and redirects browsers without a log-in to the log-in page. */
  readonly authenticatePage: Middleware = async (ctx, next) => {
    const authentication = await this.#authenticate(ctx);
    if (authentication.access !== null || ctx.method !== "GET") return this.#authorize(ctx, next, authentication);
    ctx.redirect(publicPath(ctx, `/login?to=${encodeURIComponent(publicPath(ctx))}`));
  };

  /** Provides the routes at `LOGIN_PATH` with their `LoginContext`. @throws AppError forbidden */
  readonly provideLogin: Middleware = async (ctx, next) => {
    if (ctx.method !== "GET") rejectCrossSite(ctx);
    const attributes = `Path=${publicPath(ctx, "") || "/"}; HttpOnly; SameSite=Strict${ctx.secure ? "; Secure" : ""}`;
    const cookie = ctx.cookies.get(COOKIE);
    ctx.state.authContext = {
      cookie,
      needsToken: this.needsToken,
      access: (await this.#authenticate(ctx)).access,
      logIn: async (token) => {
        const match = this.#tokens.find(({ verifier }) => verifier.verify(token));
        if (!match) return this.#rejecter.reject(ctx);
        const expiresAt = Math.floor(this.#clock.now().getTime() / 1_000) + COOKIE_MAX_AGE_SECONDS;
        const payload = `${match.access}.${expiresAt}.${randomBytes(9).toString("base64url")}`;
        return `${COOKIE}=${signCookie(payload, match.token)}; Max-Age=${COOKIE_MAX_AGE_SECONDS}; ${attributes}`;
      },
      logOut: async () => {
        const login = cookie === undefined ? null : this.#verifyCookie(cookie);
        if (cookie !== undefined && login) await this.#endedLogins.end(cookie, login.expiresAt);
        return `${COOKIE}=; Max-Age=0; ${attributes}`;
      },
    } satisfies LoginContext;
    return next();
  };

  /** Returns whether a request may read under `/api`; always true when no token is configured. */
  async canRead(ctx: Context): Promise<boolean> {
    return (await this.#authenticate(ctx)).access !== null;
  }

  async #authenticate(ctx: Context): Promise<Authentication> {
    if (!this.needsToken) return { access: "full", byHeader: false };
    const byHeader = this.#tokens.find(({ verifier }) => verifier.verifyRequest(ctx));
    if (byHeader) return { access: byHeader.access, byHeader: true };
    const cookie = ctx.cookies.get(COOKIE);
    if (cookie === undefined) return { access: null, byHeader: false };
    const login = this.#verifyCookie(cookie);
    const isOver = !login || login.expiresAt <= this.#clock.now() || (await this.#endedLogins.has(cookie));
    if (isOver) return { access: null, byHeader: false };
    return { access: login.access, byHeader: false, login: { cookie, expiresAt: login.expiresAt } };
  }

  /** Verifies the signature of a cookie, not its expiry. @returns null when this service has not signed it */
  #verifyCookie(cookie: string): { access: Access; expiresAt: Date } | null {
    // cookies of earlier versions have no id
    const [payload, access, expiresAt] = /^(\w+)\.(\d{1,12})(?:\.[\w-]{1,20})?(?=\.[\w-]{43}$)/.exec(cookie) ?? [];
    if (payload === undefined) return null;
    const signers = this.#tokens.filter(({ token }) => secretsEqual(cookie, signCookie(payload, token)));
    const signer = signers.find((one) => one.access === access);
    return signer ? { access: signer.access, expiresAt: new Date(Number(expiresAt) * 1_000) } : null;
  }
}

/** Signs the payload of a cookie with a token, so that a change of the token invalidates it. Does not reveal the token. */
function signCookie(payload: string, token: string): string {
  return `${payload}.${createHmac("sha256", token).update(`signalbox session ${payload}`).digest("base64url")}`;
}

/** Returns whether the hook token may read this path: a single run, but not its request. */
export const isRunPath = ({ path }: { readonly path: string }): boolean => /^\/api\/runs\/[^/]+$/.test(path);

/** Rejects requests that a page of another site sends from a browser that may be logged in. @throws AppError forbidden */
function rejectCrossSite(ctx: Context): void {
  const site = ctx.get("Sec-Fetch-Site");
  const origin = ctx.get("Origin");
  if (site ? ["same-origin", "none"].includes(site) : origin === "" || URL.parse(origin)?.host === ctx.host) return;
  // Browsers omit Sec-Fetch-Site over http, except for localhost. A proxy that changes Host then looks like another site.
  const advice = site
    ? ""
    : ` The Origin is ${origin} and the Host is ${ctx.host}: a proxy in between must forward the Host header unchanged.`;
  throw new AppError("forbidden", { detail: `Pages of other sites are not allowed to change anything.${advice}` });
}
