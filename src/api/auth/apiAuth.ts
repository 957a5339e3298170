import type { Context, Middleware, Next } from "koa";
import type { OidcConfig, UserHeaderConfig } from "../../config/access/people.ts";
import { allTokens, needsLogin, type TokenList } from "../../config/access/tokenList.ts";
import type { AuditLog } from "../../models/audit.ts";
import type { EndedLogins } from "../../models/endedLogin.ts";
import type { JobTokens } from "../../models/jobs/tokens/jobTokens.ts";
import type { Clock } from "../../shared/clock.ts";
import { AppError } from "../../shared/errors.ts";
import type { Logger } from "../../shared/logger.ts";
import { publicPath } from "../middleware/basePath.ts";
import { authorize, missingScope, requireScope } from "./authorize.ts";
import { type Caller, type EndingIdentity, type Grant, mayDo, originOf, scopesOf } from "./caller.ts";
import { Identities } from "./identities.ts";
import { makeCookie } from "./loginCookie.ts";
import { type TokenSettings, TokenTable } from "./tokenTable.ts";
import { bearerToken, type CountFailure, headerTokens, refusalRecorder, TokenVerifier } from "./tokenVerifier.ts";

export interface ApiAuthSettings extends TokenSettings {
  /** Grants reading single runs, without their requests. */
  readonly hookToken?: TokenList;
  readonly oidc?: OidcConfig | undefined;
  readonly userHeader?: UserHeaderConfig | undefined;
  /** `server.publicUrl`, with which the address of the log-in begins. */
  readonly publicUrl?: string | undefined;
  readonly countFailure: CountFailure;
}

export interface ApiAuthDeps {
  readonly clock: Clock;
  readonly endedLogins: EndedLogins;
  readonly jobTokens: JobTokens;
  readonly audit: AuditLog;
  readonly log: Logger;
}

/** The input of the log-in's routes. */
export interface LoginContext {
  readonly needsToken: boolean;
  /** The log-in with the company's account. */
  readonly provider: { readonly name: string; readonly url: string } | null;
  /** The caller; null when the browser has to log in first. */
  readonly caller: Caller | null;
  /** Returns the Set-Cookie header for a valid token. @throws AppError unauthorized, rate_limited, forbidden */
  logIn(token: string): Promise<string>;
  /** The cookie of this browser, whether it is valid or not. */
  readonly cookie: string | undefined;
  /** Invalidates the cookie of this browser and returns the Set-Cookie header that removes it. @throws AppError unavailable */
  logOut(): Promise<string>;
}

export const LOGIN_PATH = "/session";
/** Where the log-in with the company's account begins. */
export const OIDC_PATH = "/login/oidc";
export const SESSION_COOKIE = "signalbox_session";
const COOKIE_MAX_AGE_SECONDS = 30 * 86_400;
const ADVICE = "Send the API token in the header `Authorization: Bearer <token>`.";
const REFUSAL = "The token of this request is not valid, or has expired.";
const EVERYTHING: readonly Grant[] = [{ scopes: new Set(["admin"]) }];
const HOOK_GRANTS: readonly Grant[] = [{ scopes: new Set(["runs:read"]) }];

/** The actor of requests that only the hook token authenticated. */
export const HOOK_ACTOR = "hook-token";

/**
 * Authenticates requests to the API and the dashboard: by a token in the header, by the cookie that a browser received,
 * or by the header of a trusted proxy. When nothing of this is configured, every caller has full access, but pages of other sites
 * may not change anything.
 */
export class ApiAuth {
  /** The configured tokens of the API. */
  readonly table: TokenTable;
  /** Whether nobody is let in anonymously, so that browsers have to log in. */
  readonly needsToken: boolean;
  /** Accepts no token: rejects callers that nothing else accepted. */
  readonly #rejecter: TokenVerifier;
  readonly #hookToken: TokenVerifier;
  readonly #identities: Identities;
  readonly #provider: LoginContext["provider"];
  readonly #deps: ApiAuthDeps;

  constructor(settings: ApiAuthSettings, deps: ApiAuthDeps) {
    const recordRefusal = refusalRecorder(deps.audit, deps.log);
    const { countFailure } = settings;
    const options = { extractTokens: bearerToken, countFailure, advice: ADVICE, recordRefusal };
    this.table = new TokenTable(settings);
    this.#identities = new Identities(settings, { ...deps, table: this.table });
    const { oidc, publicUrl } = settings;
    this.#provider = oidc ? { name: new URL(oidc.issuer).host, url: `${publicUrl}${OIDC_PATH}` } : null;
    this.needsToken = needsLogin(settings) || this.table.tokens.length > 0;
    this.#rejecter = new TokenVerifier([], { ...options, refusal: REFUSAL });
    this.#hookToken = new TokenVerifier(allTokens(settings.hookToken), { ...options, extractTokens: headerTokens });
    this.#deps = deps;
  }

  /** Authenticates requests under `/api`. @throws AppError unauthorized, rate_limited, forbidden */
  readonly authenticate: Middleware = async (ctx, next) => {
    const caller = (await this.identify(ctx)) ?? this.#hookCaller(ctx) ?? (await this.#rejecter.reject(ctx));
    return this.#admit(ctx, next, caller);
  };

  /**
   * Authenticates requests of agents to the MCP endpoint: by a token in the header. Cookies are not accepted, and pages of other
   * sites are refused, as the protocol demands.
   * @throws AppError unauthorized, rate_limited, forbidden
   */
  readonly authenticateAgent: Middleware = async (ctx, next) => {
    rejectCrossSite(ctx);
    const caller = await this.identify(ctx);
    if (!caller || caller.login || caller.person) return this.#rejecter.reject(ctx);
    ctx.state.authContext = caller;
    return next();
  };

  async #admit(ctx: Context, next: Next, caller: Caller): Promise<unknown> {
    if (!isRead(ctx) && !caller.byHeader) rejectCrossSite(ctx);
    ctx.state.authContext = caller;
    try {
      return await next();
    } catch (error) {
      // a read-only token is refused for its scope first, whether the path supports the method or not
      const isUnknown = error instanceof AppError && UNKNOWN_CALLS.includes(error.code);
      throw isUnknown && !isRead(ctx) && isReader(caller) ? missingScope(caller, ["admin"]) : error;
    }
  }

  /** Returns the caller with the hook token, which may read a single run. */
  #hookCaller(ctx: Context): Caller | null {
    if (!isRunPath(ctx) || !isRead(ctx) || !this.#hookToken.verifyRequest(ctx)) return null;
    return { actor: HOOK_ACTOR, grants: HOOK_GRANTS, byHeader: true, ...originOf(ctx) };
  }

  /** Provides the routes at `LOGIN_PATH` with their `LoginContext`. @throws AppError forbidden */
  readonly provideLogin: Middleware = async (ctx, next) => {
    if (ctx.method !== "GET") rejectCrossSite(ctx);
    const attributes = `Path=${publicPath(ctx, "") || "/"}; HttpOnly; SameSite=Strict${ctx.secure ? "; Secure" : ""}`;
    const cookie = ctx.cookies.get(SESSION_COOKIE);
    const { clock, endedLogins, audit } = this.#deps;
    ctx.state.authContext = {
      cookie,
      needsToken: this.needsToken,
      provider: this.#provider,
      caller: await this.identify(ctx),
      logIn: async (token) => {
        const identity = await this.#identities.ofToken(token);
        if (!identity) return this.#rejecter.reject(ctx, [token]);
        requireScope(identity, "jobs:read");
        await audit.add({ actor: `cookie:${identity.actor}`, ...originOf(ctx) }, "login");
        const expiresAt = new Date(clock.now().getTime() + COOKIE_MAX_AGE_SECONDS * 1_000);
        const cookie = makeCookie(token, this.table.find(token, clock.now()), expiresAt);
        return `${SESSION_COOKIE}=${cookie}; Max-Age=${COOKIE_MAX_AGE_SECONDS}; ${attributes}`;
      },
      logOut: async () => {
        const identity = cookie === undefined ? null : await this.#validCookie(cookie);
        if (cookie !== undefined && identity) {
          await audit.add({ actor: identity.actor, ...originOf(ctx) }, "logout");
          await endedLogins.end(cookie, identity.expiresAt);
        }
        return `${SESSION_COOKIE}=; Max-Age=0; ${attributes}`;
      },
    } satisfies LoginContext;
    return next();
  };

  /** Returns whether a request may read runs under `/api`; always true when no token is configured. */
  async canRead(ctx: Context): Promise<boolean> {
    const caller = await this.identify(ctx);
    return caller !== null && mayDo(caller, "runs:read");
  }

  /** Returns middleware that refuses callers who may not call a route. */
  authorize(route: Parameters<typeof authorize>[1]): Middleware {
    return (ctx, next) => {
      ctx.state.authContext = authorize(ctx.state.authContext, route, ctx.params.jobId);
      return next();
    };
  }

  /**
   * Returns the caller of a request; null when it carries no valid token and no valid cookie, and no trusted proxy names a person.
   * @throws AppError unavailable
   */
  async identify(ctx: Context): Promise<Caller | null> {
    const [token] = bearerToken(ctx);
    const caller = (await this.identifyToken(ctx, token)) ?? (await this.#identifyBrowser(ctx));
    const person = caller ? null : this.#identities.ofProxy(ctx);
    return person ? { ...person, byHeader: false, ...originOf(ctx) } : caller;
  }

  /** Returns the caller of a request for an image, whose token may be in `?token=`. @throws AppError unauthorized, rate_limited */
  async identifyBadge(ctx: Context): Promise<Caller> {
    const [token] = [ctx.query.token ?? []].flat();
    const caller = token === undefined ? await this.identify(ctx) : await this.identifyToken(ctx, token);
    return caller ?? this.#rejecter.reject(ctx, token === undefined ? undefined : [token]);
  }

  /** Returns the caller with a token, which may come from elsewhere than a header; null for another text. @throws AppError unavailable */
  async identifyToken(ctx: Context, token: string | undefined): Promise<Caller | null> {
    const origin = originOf(ctx);
    const identity = token === undefined ? null : await this.#identities.ofToken(token);
    if (identity && token) return { ...identity, byHeader: true, hideToken: hiderOf(token), ...origin };
    return this.needsToken ? null : { actor: "anonymous", grants: EVERYTHING, byHeader: false, ...origin };
  }

  async #identifyBrowser(ctx: Context): Promise<Caller | null> {
    const cookie = ctx.cookies.get(SESSION_COOKIE);
    const identity = cookie === undefined ? null : await this.#validCookie(cookie);
    if (cookie === undefined || !identity) return null;
    return { ...identity, byHeader: false, login: { cookie, expiresAt: identity.expiresAt }, ...originOf(ctx) };
  }

  /** Returns who a cookie stands for that has neither expired nor logged out. @throws AppError unavailable */
  async #validCookie(cookie: string): Promise<EndingIdentity | null> {
    const { clock, endedLogins } = this.#deps;
    const identity = await this.#identities.ofCookie(cookie);
    if (!identity || identity.expiresAt <= clock.now()) return null;
    return (await endedLogins.has(cookie)) ? null : identity;
  }
}

/** The codes of calls that no route takes. */
const UNKNOWN_CALLS: readonly string[] = ["method_not_allowed", "not_found"];

const isReader = (caller: Caller): boolean => scopesOf(caller).every((scope) => scope.endsWith(":read"));

const isRead = ({ method }: Context): boolean => ["GET", "HEAD", "OPTIONS"].includes(method);

const hiderOf = (token: string) => (text: string) => text.replaceAll(token, "***");

/** Returns whether the hook token may read this path: a single run, but not its request. */
export const isRunPath = ({ path }: { readonly path: string }): boolean => /^\/api\/runs\/[^/]+$/.test(path);

/** Rejects requests that a page of another site sends from a browser that may be logged in. @throws AppError forbidden */
export function rejectCrossSite(ctx: Context): void {
  const site = ctx.get("Sec-Fetch-Site");
  const origin = ctx.get("Origin");
  if (site ? ["same-origin", "none"].includes(site) : origin === "" || URL.parse(origin)?.host === ctx.host) return;
  // Browsers omit Sec-Fetch-Site over http, except for localhost. A proxy that changes Host then looks like another site.
  const advice = site
    ? ""
    : ` The Origin is ${origin} and the Host is ${ctx.host}: a proxy in between must forward the Host header unchanged.`;
  throw new AppError("forbidden", { detail: `Pages of other sites are not allowed to change anything.${advice}` });
}
