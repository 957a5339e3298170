import type Router from "@koa/router";
import type { Context } from "koa";
import { newestOfName } from "../../models/jobs/search/newestJob.ts";
import { AppError } from "../../shared/errors.ts";
import type { SharedJob } from "../../wire/share.ts";
import type { ApiAuth } from "../auth/apiAuth.ts";
import { requireScope } from "../auth/authorize.ts";
import { jobsFor } from "../auth/caller.ts";
import type { Refuse } from "../auth/refusals.ts";
import type { ApiDeps } from "../deps.ts";
import { etagOf, matchesETag } from "../etag.ts";
import { SHARE_PATH } from "../middleware/requestLog.ts";
import { closedPage, policy } from "../pages/plainPage.ts";
import { type Badge, badgeJson, badgeSvg } from "./badge.ts";
import { nameBadge } from "./nameBadge.ts";
import { readSharedJob } from "./sharedJob.ts";
import { REFRESH_SECONDS, shareBadge, sharePage } from "./sharePage.ts";

const BADGE_PATH = "/badge";
const SVG = "image/svg+xml; charset=utf-8";
const HTML = "text/html; charset=utf-8";
const ENDED =
  "It was cut off, its time has passed, its job was deleted, or it was revoked. Ask for a new one where you got it.";

export interface ShareSettings {
  /** `server.shareFrameAncestors`: the sites that may show a shared job in a frame. */
  readonly frameAncestors: readonly string[];
  /** `server.publicBadges`: the names of jobs whose badge needs no token. */
  readonly publicBadges: readonly string[];
}

interface ShareDeps extends ShareSettings {
  readonly deps: ApiDeps;
  readonly auth: ApiAuth;
  readonly refuse: Refuse;
}

/**
 * Adds what shows one job to people without a log-in: the page of a link, which needs no script, its data and its badge; and the
 * badges of jobs by name. The token of a link is its whole authority.
 */
export function mountShare(router: Router, share: ShareDeps): void {
  router.get(`${SHARE_PATH}/:token`, (ctx) => showJob(ctx, share));
  router.get(`${BADGE_PATH}/:name`, (ctx) => showBadge(ctx, share));
}

async function showJob(ctx: Context, share: ShareDeps): Promise<void> {
  ctx.state.operation = `${SHARE_PATH}/:token`;
  setHeaders(ctx, share.frameAncestors);
  const [, token = "", form] = /^(.*?)(\.json|\.svg)?$/.exec(String(ctx.params.token)) ?? [];
  if (form === ".json")
    return send(ctx, "application/json", `${JSON.stringify(await readShared(ctx, token, share))}\n`, share);
  if (form === ".svg") {
    ctx.set("Cross-Origin-Resource-Policy", "cross-origin"); // an image on pages of other sites
    const badge = await readShared(ctx, token, share).then(shareBadge, (error) => endedBadge(ctx, error));
    return send(ctx, SVG, badgeSvg(badge), share);
  }
  const html = await readShared(ctx, token, share).then(sharePage, (error) => errorPage(ctx, error));
  return send(ctx, HTML, html, share);
}

/** Forbids to keep the response, to find it by a search, and to show it in frames, except on the configured sites. */
function setHeaders(ctx: Context, frameAncestors: readonly string[]): void {
  ctx.set({
    "Cache-Control": "private, no-store",
    "Content-Security-Policy": policy(frameAncestors.map((site) => (site === "self" ? "'self'" : site))),
    "Referrer-Policy": "no-referrer",
    "X-Robots-Tag": "noindex, nofollow",
    "X-Frame-Options": "DENY",
  });
  if (frameAncestors.length > 0) ctx.remove("X-Frame-Options"); // it cannot name sites, and the policy replaces it
}

/** Reads the job of a link. Requests at the same time share one read. @throws AppError not_found, rate_limited, unavailable */
async function readShared(ctx: Context, token: string, { deps, refuse }: ShareDeps): Promise<SharedJob> {
  const { jobTokens, stores, waiting } = deps;
  const shared = await jobTokens.openShare(token);
  if (shared === null) await refuse(ctx);
  if (shared === null || shared === "ended") throw new AppError("not_found", { detail: ENDED });
  const record = { kind: "job", jobId: shared.job.jobId } as const;
  return waiting.share(record, `share ${token}`, () => readSharedJob(stores, shared));
}

/** Returns the page of an error, and sets its status. @throws any error that is not of the catalogue, for the log */
function errorPage(ctx: Context, error: unknown): string {
  const { retry, message } = setError(ctx, error);
  if (retry) return closedPage("Please try again later", message, REFRESH_SECONDS);
  return closedPage("This link is not valid any more", message);
}

function endedBadge(ctx: Context, error: unknown): Badge {
  const { retry } = setError(ctx, error);
  return { label: "job", message: retry ? "unavailable" : "no longer shared", color: "grey" };
}

function setError(ctx: Context, error: unknown): AppError {
  if (!(error instanceof AppError) || error.code === "internal") throw error;
  ctx.set(error.headers);
  ctx.state.code = error.code;
  ctx.status = error.status;
  return error;
}

async function send(ctx: Context, type: string, text: string, { deps }: ShareDeps): Promise<void> {
  await deps.answers.reserveAnswer(text, ctx.res);
  ctx.status = ctx.state.code === undefined ? 200 : ctx.status;
  ctx.type = type;
  ctx.body = text;
}

async function showBadge(ctx: Context, { deps, auth, publicBadges }: ShareDeps): Promise<void> {
  ctx.state.operation = `${BADGE_PATH}/:name`;
  const [, name, form] = /^(.+)\.(svg|json)$/s.exec(String(ctx.params.name)) ?? [];
  if (name === undefined) {
    throw new AppError("not_found", {
      detail: `The path of a badge is ${BADGE_PATH}/NAME.svg or ${BADGE_PATH}/NAME.json.`,
    });
  }
  const isPublic = publicBadges.includes(name);
  const caller = isPublic ? undefined : await auth.identifyBadge(ctx);
  if (caller) requireScope(caller, "jobs:read");
  const badge = nameBadge(
    name,
    await newestOfName(deps.stores.jobs, name, caller && jobsFor(caller, "jobs:read")),
    deps.clock.now(),
  );
  const text = form === "svg" ? badgeSvg(badge) : badgeJson(badge);
  const etag = etagOf(text);
  ctx.set({
    "Cache-Control": `${isPublic ? "public" : "private"}, max-age=60`,
    "Cross-Origin-Resource-Policy": "cross-origin",
    ETag: etag,
    "X-Robots-Tag": "noindex",
  });
  ctx.status = matchesETag(ctx.get("If-None-Match") || undefined, etag) ? 304 : 200;
  if (ctx.status === 304) return;
  ctx.type = form === "svg" ? SVG : "application/json";
  ctx.body = text;
}
