import { createHmac, randomBytes } from "node:crypto";
import type { Context, Middleware, Next } from "koa";
import type { EndedLogins } from "../../models/endedLogin.ts";
import type { Clock } from "../../shared/clock.ts";
import { AppError } from "../../shared/errors.ts";
import { secretsEqual } from "../../shared/secretsEqual.ts";
import { bearerToken, type CountFailure, Gate, headerTokens } from "./tokens.ts";

/** What a visitor may do under `/api`. */
export type Access = "full" | "read";

export interface AccessSettings {
  readonly apiToken?: string | undefined;
  /** May only read. */
  readonly readOnlyToken?: string | undefined;
  /** May read what became of runs. */
  readonly hookToken?: string | undefined;
  readonly countFailure: CountFailure;
}

/** A browser's log-in, for routes that answer for longer than a moment. */
export interface Login {
  readonly cookie: string;
  /** When it ends by itself. */
  readonly until: Date;
}

/** What the routes of the browsers' log-in are given. */
export interface Visit {
  readonly needsToken: boolean;
  /** Null for somebody who has still to log in. */
  readonly access: Access | null;
  /** The cookie for a token. @throws AppError unauthorized, rate_limited */
  logIn(token: string): Promise<string>;
  /** The cookie of this browser, whether it is worth anything or not. */
  readonly cookie: string | undefined;
  /** Ends the cookie of this browser. @returns the one that takes it away @throws AppError unavailable */
  logOut(): Promise<string>;
}

/** What a visitor may do, null where nothing, and whether by a token in the header. */
interface Found {
  readonly access: Access | null;
  readonly byHeader: boolean;
  /** Set where it is by a cookie. */
  readonly login?: Login;
}

/** Marks a sender with the hook token alone, for routes. */
export const HOOK_SENDER = Symbol("hook sender");
export const SESSION_PATH = "/session";
const COOKIE = "signalbox_session";
const LASTS_SECONDS = 30 * 86_400;
const ADVICE = "Send the API token as `Authorization: Bearer …`.";

/**
 * Who may pass to `/api`, and to what: by a token in the header, or by the cookie that a browser got for one. Without any
 * token everybody may do everything, but no page of another site in somebody's browser.
 */
export class Doorkeeper {
  readonly #tokens: readonly { readonly access: Access; readonly token: string; readonly gate: Gate }[];
  readonly #all: Gate;
  readonly #hooks: Gate;
  readonly #clock: Clock;
  readonly #endedLogins: EndedLogins;

  constructor(
    { apiToken, readOnlyToken, hookToken, countFailure }: AccessSettings,
    clock: Clock,
    endedLogins: EndedLogins,
  ) {
    const options = { find: bearerToken, countFailure, advice: ADVICE };
    const known = [
      { access: "full" as const, token: apiToken },
      { access: "read" as const, token: readOnlyToken },
    ];
    this.#tokens = known.flatMap(({ access, token }) =>
      token === undefined ? [] : [{ access, token, gate: new Gate([token], options) }],
    );
    this.#all = new Gate([], options);
    this.#hooks = new Gate(hookToken === undefined ? [] : [hookToken], { ...options, find: headerTokens });
    this.#clock = clock;
    this.#endedLogins = endedLogins;
  }

  /** Whether there is a token to log in with. */
  get needsToken(): boolean {
    return this.#tokens.length > 0;
  }

  /** For everything under `/api`. @throws AppError unauthorized, rate_limited, forbidden */
  readonly guard: Middleware = async (ctx, next) => this.#pass(ctx, next, await this.#accessOf(ctx));

  #pass(ctx: Context, next: Next, { access, byHeader, login }: Found): Promise<unknown> {
    const reads = ["GET", "HEAD", "OPTIONS"].includes(ctx.method);
    if (access === null) {
      if (!isOfRun(ctx) || !reads || !this.#hooks.isOpenTo(ctx)) return this.#all.refuse(ctx);
      ctx.state.admitted = HOOK_SENDER;
      return next();
    }
    if (!reads && !byHeader) refuseForeign(ctx);
    if (!reads && access === "read") throw new AppError("forbidden", { detail: "This token may only read." });
    if (login) ctx.state.admitted = login;
    return next();
  }

  /** For a page beside the API: the same, but who has not logged in yet is sent to do so. */
  readonly pageGuard: Middleware = async (ctx, next) => {
    const found = await this.#accessOf(ctx);
    if (found.access !== null || ctx.method !== "GET") return this.#pass(ctx, next, found);
    ctx.redirect(`/login?to=${encodeURIComponent(ctx.path)}`);
  };

  /** For `SESSION_PATH`. @throws AppError forbidden */
  readonly visit: Middleware = async (ctx, next) => {
    if (ctx.method !== "GET") refuseForeign(ctx);
    const attributes = `Path=/; HttpOnly; SameSite=Strict${ctx.secure ? "; Secure" : ""}`;
    const cookie = ctx.cookies.get(COOKIE);
    ctx.state.admitted = {
      cookie,
      needsToken: this.needsToken,
      access: (await this.#accessOf(ctx)).access,
      logIn: async (token) => {
        const known = this.#tokens.find(({ gate }) => gate.knows(token));
        if (!known) return this.#all.refuse(ctx);
        const until = Math.floor(this.#clock.now().getTime() / 1_000) + LASTS_SECONDS;
        const said = `${known.access}.${until}.${randomBytes(9).toString("base64url")}`;
        return `${COOKIE}=${seal(said, known.token)}; Max-Age=${LASTS_SECONDS}; ${attributes}`;
      },
      logOut: async () => {
        const login = cookie === undefined ? null : this.#loginOf(cookie);
        if (cookie !== undefined && login) await this.#endedLogins.end(cookie, login.until);
        return `${COOKIE}=; Max-Age=0; ${attributes}`;
      },
    } satisfies Visit;
    return next();
  };

  /** Returns whether a request may read under `/api`: anybody's, where there is no token. */
  async mayRead(ctx: Context): Promise<boolean> {
    return (await this.#accessOf(ctx)).access !== null;
  }

  async #accessOf(ctx: Context): Promise<Found> {
    if (!this.needsToken) return { access: "full", byHeader: false };
    const byHeader = this.#tokens.find(({ gate }) => gate.isOpenTo(ctx));
    if (byHeader) return { access: byHeader.access, byHeader: true };
    const cookie = ctx.cookies.get(COOKIE);
    if (cookie === undefined) return { access: null, byHeader: false };
    const login = this.#loginOf(cookie);
    const isOver = !login || login.until <= this.#clock.now() || (await this.#endedLogins.has(cookie));
    if (isOver) return { access: null, byHeader: false };
    return { access: login.access, byHeader: false, login: { cookie, until: login.until } };
  }

  /** Reads a cookie that this service has sealed; null where it has not. */
  #loginOf(cookie: string): { access: Access; until: Date } | null {
    // cookies of earlier versions have no id
    const [said, access, until] = /^(\w+)\.(\d{1,12})(?:\.[\w-]{1,20})?(?=\.[\w-]{43}$)/.exec(cookie) ?? [];
    if (said === undefined) return null;
    const known = this.#tokens.filter(({ token }) => secretsEqual(cookie, seal(said, token)));
    const login = known.find((one) => one.access === access);
    return login ? { access: login.access, until: new Date(Number(until) * 1_000) } : null;
  }
}

/** Signs what a cookie says with a token; with another token it holds no longer. Tells nothing of the token. */
function seal(said: string, token: string): string {
  return `${said}.${createHmac("sha256", token).update(`signalbox session ${said}`).digest("base64url")}`;
}

/** Returns whether a path is what the hook token may read: what became of one run, not what it was asked. */
export const isOfRun = ({ path }: { readonly path: string }): boolean => /^\/api\/runs\/[^/]+$/.test(path);

/** Where a page of another site sent it, from the browser of somebody who may be logged in here. @throws AppError forbidden */
function refuseForeign(ctx: Context): void {
  const site = ctx.get("Sec-Fetch-Site");
  const origin = ctx.get("Origin");
  if (site ? ["same-origin", "none"].includes(site) : origin === "" || URL.parse(origin)?.host === ctx.host) return;
  // what browsers leave out over http, but for localhost: a proxy that sends another Host looks like another site
  const advice = site ? "" : ` It is of ${origin}, and asked ${ctx.host}: a proxy must pass Host on as it got it.`;
  throw new AppError("forbidden", { detail: `A page of another site may not change anything here.${advice}` });
}
