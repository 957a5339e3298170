import { readSlackEvent, readSlackPress, type SlackAct } from "../../channels/slack/inbound.ts";
import { readSignature } from "../../hooks/signatures/readSignature.ts";
import { SenderRefusedError, verifySignature } from "../../hooks/signatures/signature.ts";
import { AppError } from "../../shared/errors.ts";
import { textBody } from "../middleware/textBody.ts";
import type { Mount, MountDeps } from "../mounts.ts";

const CHANNEL = "slack";
/** Maximum size of a request of Slack. */
const MAX_BYTES = 256 * 1024;

/**
 * Adds the address to which Slack sends events and presses of buttons: `/slack` below the path of the hooks. The signature is
 * checked before the body is parsed. An act is stored, and a worker handles it, so that Slack gets its response within its three
 * seconds. Slack repeats what was not acknowledged; a repeated act is stored once.
 */
export function mountSlack({ deps, router, options, countFailure, recordRefusal }: MountDeps): Mount {
  const { hooks, slackSecret, access, stores, queues, clock } = deps;
  const path = `${hooks.path}/slack`;
  if (slackSecret === undefined) return { owns: () => false, enter: (_, next) => next() };
  router.post(path, textBody(MAX_BYTES, options.bodies), async (ctx) => {
    ctx.state.operation = path;
    const text = ctx.request.body as string;
    try {
      const signature = readSignature({ type: "slack", secret: slackSecret }, ctx.headers);
      verifySignature(signature, Buffer.from(text), clock.now());
    } catch (error) {
      if (!(error instanceof SenderRefusedError)) throw error;
      await countFailure(ctx.ip);
      await recordRefusal(ctx);
      const detail = `Slack's signature is ${error.reason}. Check channels.slack.signingSecret and the clock of this machine.`;
      throw new AppError("unauthorized", { detail });
    }
    const body = parse(text, ctx.request.type);
    ctx.status = 200;
    ctx.body = "";
    if (body?.type === "url_verification" && typeof body.challenge === "string") {
      ctx.type = "text/plain";
      ctx.body = body.challenge;
      return;
    }
    const act: SlackAct | null = body?.type === "event_callback" ? readSlackEvent(body) : readSlackPress(body);
    if (act && access.isRead(CHANNEL, act.event) && (await stores.chatUpdates.add(CHANNEL, [act])) > 0) {
      queues.triggerChat();
    }
  });
  return { owns: (one) => one === path, enter: (_, next) => next() };
}

// biome-ignore lint/suspicious/noExplicitAny: the readers check each field
function parse(text: string, type: string): any {
  const json = type === "application/x-www-form-urlencoded" ? (new URLSearchParams(text).get("payload") ?? "") : text;
  try {
    return JSON.parse(json);
  } catch {
    throw new AppError("invalid_json", {
      detail: "The body is neither a JSON object nor a form with one in `payload`.",
    });
  }
}
