import type { Context } from "koa";
import { createdPrefix } from "../../models/jobs/jobScope.ts";
import { textLines } from "../../models/jobs/log/logLine.ts";
import { type PingedRuns, pingSlug, type SlugPing } from "../../models/jobs/pings/slugPing.ts";
import { AppError } from "../../shared/errors.ts";
import { hiderOf, keepColours } from "../../shared/text/sanitizeText.ts";
import { MAX_IDENTIFIER_LENGTH } from "../../shared/text/text.ts";
import { rejectCrossSite } from "../auth/apiAuth.ts";
import { requireScope } from "../auth/authorize.ts";
import { jobsFor } from "../auth/caller.ts";
import { rejecting } from "../auth/refusals.ts";
import type { ApiDeps } from "../deps.ts";
import { mapBodyError, readBody } from "../middleware/body.ts";
import type { MemoryBudget } from "../middleware/memoryBudget.ts";
import { PING_PATH } from "../middleware/requestLog.ts";
import type { Mount, MountDeps } from "../mounts.ts";
import { keptTraceparent } from "../traceparent.ts";

/** Maximum bytes of a body that are kept. Clients such as runitor read the limit, and send the end of a long text. */
const BODY_LIMIT = 10_000;
const METHODS: readonly string[] = ["GET", "HEAD", "POST"];
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const SLUG = /^[A-Za-z0-9_.-]{1,100}$/;
const EXIT_CODE = /^\d{1,3}$/;
const ADVICE =
  "The key in this address is no token of this service: use /ping/KEY/SLUG with a token that has the scope jobs:create.";
/** The length of what a run adds to the id of its job: a slash, and a UUID or a time. */
const RUN_LENGTH = 37;

/**
 * Adds the addresses that tools with a field for Healthchecks ping: `/ping/KEY/SLUG` and `/ping/UUID`, with what happened behind
 * them. They answer in plain text, and their errors too, because these tools show it to people. A GET has an effect here, which
 * is why the key is part of the address.
 */
export function mountPings({ deps, options, auth, refuse }: MountDeps): Mount {
  const reject = rejecting(refuse, ADVICE);
  const expected = new Map(
    deps.expect.flatMap((one) => (one.ping === undefined ? [] : [[one.ping.toLowerCase(), one]])),
  );

  /** Returns the runs that an address is about, and the rest of its path. */
  async function resolve(ctx: Context): Promise<Address> {
    const [key = "", ...rest] = segmentsOf(ctx.path);
    const one = expected.get(key.toLowerCase());
    const hide = hiderOf(key);
    if (one) return { runs: { pinged: one.id, name: one.name }, rest, hide };
    const caller = await auth.identifyToken(ctx, key);
    if (!caller?.byHeader && UUID.test(key) && (rest.length === 0 || stateOf(rest[0]) !== undefined)) {
      if (!caller) await refuse(ctx, { hasToken: false });
      throw new AppError("not_found", { detail: "No entry of expect has this UUID as its ping." });
    }
    if (!caller) return reject(ctx, [key]);
    if (!caller.byHeader) rejectCrossSite(ctx);
    requireScope(caller, "jobs:create");
    const [slug = "", ...more] = rest;
    const prefix = createdPrefix(jobsFor(caller, "jobs:create"));
    if (!SLUG.test(slug)) throw invalid("The slug must have 1 to 100 letters, digits, dots, dashes and underscores.");
    if (prefix.length + slug.length + RUN_LENGTH > MAX_IDENTIFIER_LENGTH)
      throw invalid("The slug is too long for this token.");
    return { runs: { pinged: prefix + slug, name: slug }, rest: more, hide };
  }

  async function answer(ctx: Context): Promise<void> {
    if (!METHODS.includes(ctx.method)) {
      throw new AppError("method_not_allowed", {
        detail: "Send HEAD, GET or POST.",
        headers: { Allow: METHODS.join(", ") },
      });
    }
    const { runs, rest, hide } = await resolve(ctx);
    const trace = keptTraceparent(deps.stores, ctx.headers);
    const state = rest.length > 1 ? undefined : stateOf(rest[0] ?? "success");
    if (state === undefined) {
      throw invalid("Behind the slug or UUID stands nothing, start, fail, log or an exit code from 0 to 255.");
    }
    const { rid } = ctx.query;
    if (rid !== undefined && (typeof rid !== "string" || !UUID.test(rid))) throw invalid("rid must be a UUID.");
    const body = ctx.method === "POST" ? hide(keepColours(await readBeginning(ctx, options.bodies))) : "";
    const ping = { state, body, log: textLines(body, deps.clock.now()) };
    await report(deps, { ...runs, rid: rid?.toLowerCase(), ...trace }, ping);
  }

  return {
    owns: (path) => path.startsWith(`${PING_PATH}/`),
    async enter(ctx) {
      ctx.state.operation = PING_PATH;
      ctx.set("Cache-Control", "no-store");
      ctx.type = "text/plain; charset=utf-8";
      try {
        await answer(ctx);
        ctx.set("Ping-Body-Limit", String(BODY_LIMIT));
        ctx.status = 200;
        ctx.body = "OK";
      } catch (error) {
        if (!(error instanceof AppError) || error.status >= 500) throw error;
        deps.metrics.refused.inc({ reason: error.code });
        ctx.state.code = error.code;
        ctx.status = error.status;
        ctx.set(error.headers);
        ctx.body = `${error.message}\n`;
      }
    },
  };
}

/** The runs that the address of a ping is about. */
interface Address {
  readonly runs: Omit<PingedRuns, "rid">;
  /** The parts of the path behind the slug or the UUID. */
  readonly rest: readonly string[];
  /** Returns a text without the secret of the address, which must not be stored. */
  hide(text: string): string;
}

const invalid = (detail: string) => new AppError("invalid_query", { detail });

/** Returns the decoded parts of a path behind `PING_PATH`. A slash at the end is none of them. */
function segmentsOf(path: string): string[] {
  try {
    return path
      .slice(PING_PATH.length + 1)
      .replace(/\/$/, "")
      .split("/")
      .map(decodeURIComponent);
  } catch {
    throw invalid("The path is not percent-encoded UTF-8.");
  }
}

/** Returns what the last part of a path reports; undefined if it is nothing of the kind. */
function stateOf(part = ""): SlugPing["state"] | undefined {
  if (part === "success" || part === "start" || part === "fail" || part === "log") return part;
  return EXIT_CODE.test(part) && Number(part) <= 255 ? Number(part) : undefined;
}

/** Reads the beginning of a body as text that ends with a whole character, and discards the rest. */
async function readBeginning(ctx: Context, bodies: MemoryBudget): Promise<string> {
  const kept: Buffer[] = [];
  let room = BODY_LIMIT;
  const read = async () => {
    for await (const chunk of ctx.req as AsyncIterable<Buffer>) {
      if (room > 0) kept.push(chunk.subarray(0, room));
      room -= Math.min(chunk.length, room);
    }
  };
  await readBody(ctx, BODY_LIMIT, bodies, read).catch((error) => {
    throw error instanceof AppError ? error : mapBodyError({ type: "request.aborted" }, BODY_LIMIT);
  });
  return new TextDecoder().decode(Buffer.concat(kept), { stream: true });
}

async function report({ stores, metrics, clock }: ApiDeps, runs: PingedRuns, ping: SlugPing): Promise<void> {
  const result = await pingSlug(stores, runs, ping, clock);
  if (result) metrics.countPing(result);
}
