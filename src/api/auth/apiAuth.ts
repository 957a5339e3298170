import type { Context, Middleware, Next } from "koa";
import { allTokens, type TokenList } from "../../config/tokenList.ts";
import type { AuditLog } from "../../models/audit.ts";
import type { EndedLogins } from "../../models/endedLogin.ts";
import type { JobTokenScope, JobTokens } from "../../models/jobs/tokens/jobTokens.ts";
import type { Clock } from "../../shared/clock.ts";
import { AppError } from "../../shared/errors.ts";
import type { Logger } from "../../shared/logger.ts";
import { publicPath } from "../middleware/basePath.ts";
import { authorize, missingScope, OWN_JOB_SCOPES } from "./authorize.ts";
import { type Caller, type Login, mayDo, originOf } from "./caller.ts";
import { jobTokenIn, makeCookie, verifyCookie } from "./loginCookie.ts";
import { type KnownToken, type TokenSettings, TokenTable } from "./tokenTable.ts";
import { bearerToken, type CountFailure, headerTokens, refusalRecorder, TokenVerifier } from "./tokenVerifier.ts";

export interface ApiAuthSettings extends TokenSettings {
  /** Grants reading single runs, without their requests. */
  readonly hookToken?: TokenList;
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
const COOKIE = "signalbox_session";
const COOKIE_MAX_AGE_SECONDS = 30 * 86_400;
const ADVICE = "Send the API token in the header `Authorization: Bearer <token>`.";
const EVERYTHING: ReadonlySet<string> = new Set(["admin"]);
const JOB_TOKEN_SCOPES: Readonly<Record<JobTokenScope, ReadonlySet<string>>> = {
  read: new Set(["jobs:read"]),
  report: OWN_JOB_SCOPES,
  run: new Set([...OWN_JOB_SCOPES, "jobs:create"]),
};
const HOOK_SCOPES: ReadonlySet<string> = new Set(["runs:read"]);

/** The actor of requests that only the hook token authenticated. */
export const HOOK_ACTOR = "hook-token";

/**
 * Authenticates requests to the API and the dashboard: by a token in the header, or by the cookie that a browser received
 * for one. When no token is configured, every caller has full access, but pages of other sites may not change anything.
 */
export class ApiAuth {
  /** The configured tokens of the API. */
  readonly table: TokenTable;
  /** Accepts no token: rejects callers that nothing else accepted. */
  readonly #rejecter: TokenVerifier;
  readonly #hookToken: TokenVerifier;
  readonly #deps: ApiAuthDeps;

  constructor(settings: ApiAuthSettings, deps: ApiAuthDeps) {
    const recordRefusal = refusalRecorder(deps.audit, deps.log);
    const options = { extractTokens: bearerToken, countFailure: settings.countFailure, advice: ADVICE, recordRefusal };
    this.table = new TokenTable(settings);
    this.#rejecter = new TokenVerifier([], options);
    this.#hookToken = new TokenVerifier(allTokens(settings.hookToken), { ...options, extractTokens: headerTokens });
    this.#deps = deps;
  }

  /** Whether a token is configured, so that browsers have to log in. */
  get needsToken(): boolean {
    return this.table.tokens.length > 0;
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
    if (!caller || caller.login) return this.#rejecter.reject(ctx);
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
    return { actor: HOOK_ACTOR, scopes: HOOK_SCOPES, byHeader: true, ...originOf(ctx) };
  }

  /** Provides the routes at `LOGIN_PATH` with their `LoginContext`. @throws AppError forbidden */
  readonly provideLogin: Middleware = async (ctx, next) => {
    if (ctx.method !== "GET") rejectCrossSite(ctx);
    const attributes = `Path=${publicPath(ctx, "") || "/"}; HttpOnly; SameSite=Strict${ctx.secure ? "; Secure" : ""}`;
    const cookie = ctx.cookies.get(COOKIE);
    const { clock, endedLogins, audit } = this.#deps;
    ctx.state.authContext = {
      cookie,
      needsToken: this.needsToken,
      caller: await this.identify(ctx),
      logIn: async (token) => {
        const caller = await this.#tokenCaller(token);
        if (!caller) return this.#rejecter.reject(ctx, [token]);
        if (!mayDo(caller, "jobs:read")) throw missingScope(caller, ["jobs:read"]);
        await audit.add({ actor: `cookie:${caller.actor}`, ...originOf(ctx) }, "login");
        const expiresAt = new Date(clock.now().getTime() + COOKIE_MAX_AGE_SECONDS * 1_000);
        const cookie = makeCookie(token, this.table.find(token, clock.now()), expiresAt);
        return `${COOKIE}=${cookie}; Max-Age=${COOKIE_MAX_AGE_SECONDS}; ${attributes}`;
      },
      logOut: async () => {
        const login = cookie === undefined ? null : await this.#verifyCookie(cookie);
        if (cookie !== undefined && login && login.expiresAt > clock.now() && !(await endedLogins.has(cookie))) {
          await audit.add({ actor: `cookie:${login.actor}`, ...originOf(ctx) }, "logout");
          await endedLogins.end(cookie, login.expiresAt);
        }
        return `${COOKIE}=; Max-Age=0; ${attributes}`;
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
      authorize(ctx.state.authContext, route, ctx.params.jobId);
      return next();
    };
  }

  /** Returns the caller of a request; null when it carries no valid token and no valid cookie. @throws AppError unavailable */
  async identify(ctx: Context): Promise<Caller | null> {
    const [token] = bearerToken(ctx);
    return (await this.identifyToken(ctx, token)) ?? this.#identifyBrowser(ctx);
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
    const caller = token === undefined ? null : await this.#tokenCaller(token);
    if (caller && token) return { ...caller, byHeader: true, hideToken: hiderOf(token), ...origin };
    return this.needsToken ? null : { actor: "anonymous", scopes: EVERYTHING, byHeader: false, ...origin };
  }

  /** Returns what a token allows, the token of a job included; null for another text. @throws AppError unavailable */
  async #tokenCaller(token: string): Promise<TokenCaller | null> {
    const { clock, jobTokens } = this.#deps;
    const claims = await jobTokens.open(token);
    if (claims) {
      const { jobId, internalId, scope, expiresAt } = claims;
      const jobs = { jobId, internalId, ...(scope === "run" && { withChildren: true as const }) };
      return { actor: `job-token:${jobId}`, scopes: JOB_TOKEN_SCOPES[scope], jobs, expiresAt };
    }
    const known = this.table.find(token, clock.now());
    return known ? callerOf(known) : null;
  }

  async #identifyBrowser(ctx: Context): Promise<Caller | null> {
    const { clock, endedLogins } = this.#deps;
    const cookie = ctx.cookies.get(COOKIE);
    if (cookie === undefined) return null;
    const login = await this.#verifyCookie(cookie);
    if (!login || login.expiresAt <= clock.now()) return null;
    if (await endedLogins.has(cookie)) return null;
    const { expiresAt, actor } = login;
    return { ...login, actor: `cookie:${actor}`, byHeader: false, login: { cookie, expiresAt }, ...originOf(ctx) };
  }

  /**
   * Returns what a cookie of this service allows, whether it has expired or not; null for another cookie.
   * @throws AppError unavailable
   */
  async #verifyCookie(cookie: string): Promise<(TokenCaller & Pick<Login, "expiresAt">) | null> {
    const jobToken = jobTokenIn(cookie);
    if (jobToken !== undefined) {
      const caller = await this.#tokenCaller(jobToken);
      return caller?.expiresAt ? { ...caller, expiresAt: caller.expiresAt } : null;
    }
    const verified = verifyCookie(this.table, cookie);
    if (!verified) return null;
    const { token, expiresAt } = verified;
    return { ...callerOf(token), expiresAt: earlier(expiresAt, token.expiresAt) };
  }
}

/** The caller that a token stands for: its name, its scopes and its jobs. */
type TokenCaller = Pick<Caller, "actor" | "scopes" | "jobs" | "expiresAt">;

/** The codes of calls that no route takes. */
const UNKNOWN_CALLS: readonly string[] = ["method_not_allowed", "not_found"];

const isReader = ({ scopes }: Caller): boolean => [...scopes].every((scope) => scope.endsWith(":read"));

const isRead = ({ method }: Context): boolean => ["GET", "HEAD", "OPTIONS"].includes(method);

const callerOf = ({ name, scopes, jobs, expiresAt }: KnownToken) => ({ actor: name, scopes, jobs, expiresAt });

const earlier = (one: Date, other: Date | undefined): Date => (other !== undefined && other < one ? other : one);

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
