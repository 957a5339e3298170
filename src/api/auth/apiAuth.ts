import type { Context, Middleware } from "koa";
import { allTokens, needsLogin, type TokenList } from "../../config/access/tokenList.ts";
import type { AuditLog } from "../../models/audit.ts";
import { AppError } from "../../shared/errors.ts";
import { hiderOf } from "../../shared/text/sanitizeText.ts";
import { publicPath } from "../middleware/basePath.ts";
import { missingScope, requireScope } from "./authorize.ts";
import { type Caller, type Grant, originOf, scopesOf } from "./caller.ts";
import { Identities, type IdentitiesDeps, type IdentitySettings } from "./identities.ts";
import { makeCookie } from "./loginCookie.ts";
import { bearerToken, headerTokens, isOneOf, type Refuse, type Reject, rejecting } from "./refusals.ts";

export interface ApiAuthSettings extends IdentitySettings {
  /** Grants reading single runs, without their requests. */
  readonly hookToken?: TokenList;
  /** `server.publicUrl`, with which the address of the log-in begins. */
  readonly publicUrl?: string | undefined;
}

export interface ApiAuthDeps extends IdentitiesDeps {
  readonly audit: AuditLog;
  readonly refuse: Refuse;
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
/** The page at which the log-in with the company's account begins. */
export const OIDC_PATH = "/login/oidc";
export const SESSION_COOKIE = "signalbox_session";
const COOKIE_MAX_AGE_SECONDS = 30 * 86_400;
const ADVICE = "Send the API token in the header `Authorization: Bearer <token>`.";
const REFUSAL = "The token of this request is not valid, or has expired.";
const EVERYTHING: readonly Grant[] = [{ scopes: new Set(["admin"]) }];
const HOOK_GRANTS: readonly Grant[] = [{ scopes: new Set(["runs:read"]) }];

/** The codes of calls that no route takes. */
const UNKNOWN_CALLS: readonly string[] = ["method_not_allowed", "not_found"];

/** The actor of requests that only the hook token authenticated. */
export const HOOK_ACTOR = "hook-token";

/**
 * Authenticates requests to the API and the dashboard: by a token in the header, by the cookie that a browser received,
 * or by the header of a trusted proxy. When nothing of this is configured, every caller has full access, but pages of other sites
 * may not change anything.
 */
export class ApiAuth {
  /** Whether anonymous callers are rejected, so that browsers have to log in. */
  readonly needsToken: boolean;
  readonly identities: Identities;
  readonly #reject: Reject;
  readonly #hookTokens: readonly string[];
  readonly #provider: LoginContext["provider"];
  readonly #deps: ApiAuthDeps;

  constructor(settings: ApiAuthSettings, deps: ApiAuthDeps) {
    const { oidc, publicUrl } = settings;
    this.identities = new Identities(settings, deps);
    this.#provider = oidc ? { name: new URL(oidc.issuer).host, url: `${publicUrl}${OIDC_PATH}` } : null;
    this.needsToken = needsLogin(settings) || this.identities.table.tokens.length > 0;
    this.#reject = rejecting(deps.refuse, ADVICE, REFUSAL);
    this.#hookTokens = allTokens(settings.hookToken);
    this.#deps = deps;
  }

  /** Authenticates requests under `/api`. @throws AppError unauthorized, rate_limited, forbidden */
  readonly authenticate: Middleware = async (ctx, next) => {
    const caller = (await this.identify(ctx)) ?? this.#hookCaller(ctx) ?? (await this.#reject(ctx, bearerToken(ctx)));
    if (!isRead(ctx) && !caller.byHeader) rejectCrossSite(ctx);
    ctx.state.authContext = caller;
    try {
      return await next();
    } catch (error) {
      // A read-only token is refused for its scope first, whether a route takes the call or not.
      const isUnknown = error instanceof AppError && UNKNOWN_CALLS.includes(error.code);
      throw isUnknown && !isRead(ctx) && isReadOnly(caller) ? missingScope(caller, ["admin"]) : error;
    }
  };

  /**
   * Authenticates requests of agents to the MCP endpoint: by a token in the header. Cookies are not accepted, and pages of other
   * sites are refused, as the protocol demands.
   * @throws AppError unauthorized, rate_limited, forbidden
   */
  readonly authenticateAgent: Middleware = async (ctx, next) => {
    rejectCrossSite(ctx);
    const caller = await this.identify(ctx);
    if (!caller || caller.cookie !== undefined || caller.person) return this.#reject(ctx, bearerToken(ctx));
    ctx.state.authContext = caller;
    return next();
  };

  /** Returns the caller with the hook token, which may read a single run. */
  #hookCaller(ctx: Context): Caller | null {
    if (!isRunPath(ctx) || !isRead(ctx)) return null;
    if (!headerTokens(ctx).some((token) => isOneOf(this.#hookTokens, token))) return null;
    return { actor: HOOK_ACTOR, grants: HOOK_GRANTS, byHeader: true, ...originOf(ctx) };
  }

  /** Provides the routes at `LOGIN_PATH` with their `LoginContext`. @throws AppError forbidden */
  readonly provideLogin: Middleware = async (ctx, next) => {
    if (ctx.method !== "GET") rejectCrossSite(ctx);
    const attributes = `Path=${publicPath(ctx, "") || "/"}; HttpOnly; SameSite=Strict${ctx.secure ? "; Secure" : ""}`;
    const cookie = ctx.cookies.get(SESSION_COOKIE);
    const { clock, endedLogins, audit } = this.#deps;
    const { identities } = this;
    ctx.state.authContext = {
      cookie,
      needsToken: this.needsToken,
      provider: this.#provider,
      caller: await this.identify(ctx),
      logIn: async (token) => {
        const identity = await identities.ofToken(token);
        if (!identity) return this.#reject(ctx, [token]);
        requireScope(identity, "jobs:read");
        await audit.add({ actor: `cookie:${identity.actor}`, ...originOf(ctx) }, "login");
        const expiresAt = new Date(clock.now().getTime() + COOKIE_MAX_AGE_SECONDS * 1_000);
        const issued = makeCookie(token, identities.table.find(token, clock.now()), expiresAt);
        return `${SESSION_COOKIE}=${issued}; Max-Age=${COOKIE_MAX_AGE_SECONDS}; ${attributes}`;
      },
      logOut: async () => {
        const identity = await identities.ofCookie(cookie);
        if (cookie !== undefined && identity) {
          await audit.add({ actor: identity.actor, ...originOf(ctx) }, "logout");
          await endedLogins.end(cookie, identity.expiresAt);
        }
        return `${SESSION_COOKIE}=; Max-Age=0; ${attributes}`;
      },
    } satisfies LoginContext;
    return next();
  };

  /**
   * Returns the caller of a request; null when it carries no valid token and no valid cookie, and no trusted proxy names a person.
   * @throws AppError unavailable
   */
  async identify(ctx: Context): Promise<Caller | null> {
    const caller = await this.identifyToken(ctx, bearerToken(ctx)[0]);
    if (caller) return caller;
    const cookie = ctx.cookies.get(SESSION_COOKIE);
    const byCookie = await this.identities.ofCookie(cookie);
    const identity = byCookie ?? this.identities.ofProxy(ctx);
    return identity && { ...identity, ...(byCookie && cookie && { cookie }), byHeader: false, ...originOf(ctx) };
  }

  /** Returns the caller of a request for an image, whose token may be in `?token=`. @throws AppError unauthorized, rate_limited */
  async identifyBadge(ctx: Context): Promise<Caller> {
    const [token] = [ctx.query.token ?? []].flat();
    const caller = token === undefined ? await this.identify(ctx) : await this.identifyToken(ctx, token);
    return caller ?? this.#reject(ctx, token === undefined ? bearerToken(ctx) : [token]);
  }

  /** Returns the caller with a token, which may come from elsewhere than a header; null for another text. @throws AppError unavailable */
  async identifyToken(ctx: Context, token: string | undefined): Promise<Caller | null> {
    const origin = originOf(ctx);
    const identity = token === undefined ? null : await this.identities.ofToken(token);
    if (identity && token) return { ...identity, byHeader: true, hideToken: hiderOf(token), ...origin };
    return this.needsToken ? null : { actor: "anonymous", grants: EVERYTHING, byHeader: false, ...origin };
  }
}

const isReadOnly = (caller: Caller): boolean => scopesOf(caller).every((scope) => scope.endsWith(":read"));

const isRead = ({ method }: Context): boolean => ["GET", "HEAD", "OPTIONS"].includes(method);

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
