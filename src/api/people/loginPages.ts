import { hash, randomBytes } from "node:crypto";
import type Router from "@koa/router";
import type { Context } from "koa";
import type { OidcConfig } from "../../config/access/people.ts";
import { AppError } from "../../shared/errors.ts";
import type { Logger } from "../../shared/logger.ts";
import { OIDC_PATH, SESSION_COOKIE } from "../auth/apiAuth.ts";
import { originOf } from "../auth/caller.ts";
import type { ApiDeps } from "../deps.ts";
import { policy } from "../pages/plainPage.ts";
import { endedPage, faultPage, loggedInPage, noRolePage } from "./faultPages.ts";
import { LoginFault } from "./loginFault.ts";
import { type Flow, Provider } from "./provider.ts";
import { Sessions } from "./session.ts";

const CALLBACK_PATH = "/login/callback";
const LOGOUT_PATH = "/login/logout";
/** How long a log-in may take. */
const FLOW_SECONDS = 600;
/** Maximum characters of the address that a log-in leads back to; it is part of the state. */
const MAX_TARGET_CHARS = 512;
/** Maximum characters of an ID token that the browser keeps for the log-out: a cookie has at most 4,096 bytes. */
const MAX_HINT_CHARS = 3_800;
const HINT_COOKIE = "signalbox_login_hint";

/**
 * Adds the pages of the log-in with the company's account. The state that the provider sends back is sealed and names the page to
 * go on to. The cookie of a log-in holds the secret from which verifier and nonce are derived, and belongs to one state, so that
 * log-ins in two tabs do not disturb each other.
 * @param publicUrl `server.publicUrl`, from which all addresses come
 */
export function mountLoginPages(router: Router, settings: OidcConfig, publicUrl: string, deps: ApiDeps): void {
  const { stores, jobTokens, clock, log } = deps;
  const { seals } = jobTokens;
  const sessions = new Sessions(settings, seals, clock);
  const provider = new Provider(settings, publicUrl, clock);
  const { origin, protocol, pathname } = new URL(publicUrl);
  const base = pathname.replace(/\/$/, "");
  const secure = protocol === "https:" ? "; Secure" : "";
  const cookie = (name: string, value: string, seconds: number, { path, sameSite }: CookieOptions) =>
    `${name}=${value}; Max-Age=${seconds}; Path=${path}; HttpOnly; SameSite=${sameSite}${secure}`;
  const flowCookie = { path: base + CALLBACK_PATH, sameSite: "Lax" };

  const page = (path: string, answer: (ctx: Context) => Promise<void>) =>
    router.get(path, async (ctx, next) => {
      if (ctx.method !== "GET") return next(); // the router takes HEAD too, which must not use up a code
      ctx.state.operation = path;
      ctx.set({ "Cache-Control": "no-store", "Content-Security-Policy": policy() });
      try {
        await answer(ctx);
      } catch (error) {
        const { status, body } = faultPage(kindOf(error, log), base);
        if (error instanceof AppError) ctx.set(error.headers);
        ctx.status = status;
        ctx.body = body;
      }
    });

  page(OIDC_PATH, async (ctx) => {
    const secret = randomBytes(32).toString("base64url");
    const id = derive(secret, "state");
    const end = Math.floor(clock.now().getTime() / 1_000) + FLOW_SECONDS;
    const state = await seals.seal("login", [id, targetOf(ctx.query.to, base), end]);
    const url = await provider.begin(flowOf(secret, state));
    ctx.append("Set-Cookie", cookie(cookieOf(id), secret, FLOW_SECONDS, flowCookie));
    ctx.redirect(url.href);
  });

  page(CALLBACK_PATH, async (ctx) => {
    const { state } = ctx.query;
    const content = typeof state === "string" ? await seals.open("login", state) : null;
    const [id, to, end] = (content ?? ["", "", 0]) as [string, string, number];
    if (end <= clock.now().getTime() / 1_000) return show(ctx, faultPage("state", base));
    const secret = ctx.cookies.get(cookieOf(id)) ?? "";
    if (derive(secret, "state") !== id) return show(ctx, faultPage("browser", base));
    ctx.append("Set-Cookie", cookie(cookieOf(id), "", 0, flowCookie));
    const { member, idToken } = await provider.complete(ctx.search, flowOf(secret, state as string));
    const { cookie: session, identity } = await sessions.seal(member);
    if (identity.grants.length === 0) {
      log.info({ actor: identity.actor, groups: member.groups.length }, "a person without a role was refused");
      return show(ctx, noRolePage(member.name, settings.groupsClaim, member.groups, base));
    }
    await stores.audit.add({ actor: identity.actor, ...originOf(ctx) }, "login");
    const seconds = Math.floor((identity.expiresAt.getTime() - clock.now().getTime()) / 1_000);
    const strict = (path: string) => ({ path, sameSite: "Strict" });
    ctx.append("Set-Cookie", cookie(SESSION_COOKIE, session, seconds, strict(base || "/")));
    if (idToken.length <= MAX_HINT_CHARS) {
      ctx.append("Set-Cookie", cookie(HINT_COOKIE, idToken, seconds, strict(base + LOGOUT_PATH)));
    }
    show(ctx, { status: 200, body: loggedInPage(origin + to) });
  });

  // the page ends its session before it comes here, so that this address changes nothing
  page(LOGOUT_PATH, async (ctx) => {
    ctx.append("Set-Cookie", cookie(HINT_COOKIE, "", 0, { path: base + LOGOUT_PATH, sameSite: "Strict" }));
    const url = await provider.end(ctx.cookies.get(HINT_COOKIE));
    ctx.redirect(url?.href ?? `${publicUrl}/login/ended`);
  });

  page("/login/ended", async (ctx) => show(ctx, { status: 200, body: endedPage(base) }));
}

interface CookieOptions {
  readonly path: string;
  readonly sameSite: string;
}

function show(ctx: Context, { status, body }: { readonly status: number; readonly body: string }): void {
  ctx.status = status;
  ctx.body = body;
}

/** Returns the fault that a page shows, and logs it. @throws any error that is neither of the log-in nor of the catalogue */
function kindOf(error: unknown, log: Logger): Parameters<typeof faultPage>[0] {
  if (error instanceof AppError && error.code !== "internal") return "later";
  if (!(error instanceof LoginFault)) throw error;
  log.warn({ fault: error.kind, reason: error.message }, "a log-in with the company's account failed");
  return error.kind;
}

/** Returns the secrets of a log-in. Whoever knows one of them cannot find another. */
const flowOf = (secret: string, state: string): Flow => ({
  state,
  nonce: derive(secret, "nonce"),
  verifier: derive(secret, "verifier"),
});

const derive = (secret: string, purpose: string): string => hash("sha256", `${purpose} ${secret}`, "base64url");

/** Returns the name of the cookie of a log-in, of which a browser then has a few thousand for its tabs. */
const cookieOf = (id: string): string => `signalbox_login_${id.slice(0, 2)}`;

/**
 * Returns the address to go on to: a path of this service, by default its first page. The result is only appended to the origin of
 * `server.publicUrl`, so that it never leads elsewhere.
 */
function targetOf(to: unknown, base: string): string {
  const home = `${base}/`;
  const url = typeof to === "string" ? URL.parse(to, "http://service") : null;
  if (url?.origin !== "http://service" || !`${url.pathname}/`.startsWith(home)) return home;
  if (`${url.pathname}/`.startsWith(`${base}/login/`)) return home;
  const target = url.pathname + url.search + url.hash; // longer than the text, since characters outside ASCII are encoded
  return target.length <= MAX_TARGET_CHARS ? target : home;
}
