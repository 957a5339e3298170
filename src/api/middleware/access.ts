import { createHmac } from "node:crypto";
import type { Context, Middleware } from "koa";
import type { Clock } from "../../shared/clock.ts";
import { AppError } from "../../shared/errors.ts";
import { isSecret } from "../../shared/isSecret.ts";
import { bearerToken, type CountFailure, Gate, headerTokens } from "./auth.ts";

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

/** What the routes of the browsers' log-in are given. */
export interface Visit {
  readonly needsToken: boolean;
  /** Null for somebody who has still to log in. */
  readonly access: Access | null;
  /** The cookie for a token. @throws AppError unauthorized, rate_limited */
  logIn(token: string): Promise<string>;
  /** The cookie that takes the other one away. */
  logOut(): string;
}

/** What routes are given of a sender with the hook token alone. */
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

  constructor({ apiToken, readOnlyToken, hookToken, countFailure }: AccessSettings, clock: Clock) {
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
  }

  /** Whether there is a token to log in with. */
  get needsToken(): boolean {
    return this.#tokens.length > 0;
  }

  /** For everything under `/api`. @throws AppError unauthorized, rate_limited, forbidden */
  readonly guard: Middleware = (ctx, next) => {
    const { access, byHeader } = this.#accessOf(ctx);
    const reads = ["GET", "HEAD", "OPTIONS"].includes(ctx.method);
    if (access === null) {
      if (!isOfRun(ctx) || !reads || !this.#hooks.isOpenTo(ctx)) return this.#all.refuse(ctx);
      ctx.state.admitted = HOOK_SENDER;
      return next();
    }
    if (!reads && !byHeader) refuseForeign(ctx);
    if (!reads && access === "read") throw new AppError("forbidden", { detail: "This token may only read." });
    return next();
  };

  /** For a page beside the API: the same, but who has not logged in yet is sent to do so. */
  readonly pageGuard: Middleware = (ctx, next) => {
    if (this.#accessOf(ctx).access !== null || ctx.method !== "GET") return this.guard(ctx, next);
    ctx.redirect(`/login?to=${encodeURIComponent(ctx.path)}`);
  };

  /** For `SESSION_PATH`. @throws AppError forbidden */
  readonly visit: Middleware = (ctx, next) => {
    if (ctx.method !== "GET") refuseForeign(ctx);
    const attributes = `Path=/; HttpOnly; SameSite=Strict${ctx.secure ? "; Secure" : ""}`;
    ctx.state.admitted = {
      needsToken: this.needsToken,
      access: this.#accessOf(ctx).access,
      logIn: async (token) => {
        const known = this.#tokens.find(({ gate }) => gate.knows(token));
        if (!known) return this.#all.refuse(ctx);
        const until = Math.floor(this.#clock.now().getTime() / 1_000) + LASTS_SECONDS;
        return `${COOKIE}=${seal(known, until)}; Max-Age=${LASTS_SECONDS}; ${attributes}`;
      },
      logOut: () => `${COOKIE}=; Max-Age=0; ${attributes}`,
    } satisfies Visit;
    return next();
  };

  #accessOf(ctx: Context): { access: Access | null; byHeader: boolean } {
    if (!this.needsToken) return { access: "full", byHeader: false };
    const byHeader = this.#tokens.find(({ gate }) => gate.isOpenTo(ctx));
    if (byHeader) return { access: byHeader.access, byHeader: true };
    const cookie = ctx.cookies.get(COOKIE);
    if (cookie === undefined) return { access: null, byHeader: false };
    const until = Number(/^\w+\.(\d{1,12})\./.exec(cookie)?.[1] ?? 0);
    const byCookie = this.#tokens.find((known) => isSecret(cookie, seal(known, until)));
    const isOver = until * 1_000 <= this.#clock.now().getTime();
    return { access: byCookie && !isOver ? byCookie.access : null, byHeader: false };
  }
}

/** Holds for one token and until a time; another token, and it holds no longer. Tells nothing of the token. */
function seal({ access, token }: { access: Access; token: string }, until: number): string {
  const said = `${access}.${until}`;
  return `${said}.${createHmac("sha256", token).update(`signalbox session ${said}`).digest("base64url")}`;
}

/** What the hook token may read: what became of a run whose id the sender knows, not what it was asked. */
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
