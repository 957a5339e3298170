import Type from "typebox";
import type { Stores } from "../../../models/stores.ts";
import { CHANNELS } from "../../../shared/channelNames.ts";
import * as s from "../../../wire/blocks.ts";
import { CurrentReplyTarget } from "../../../wire/channel.ts";
import type { ApiDeps } from "../../deps.ts";
import * as examples from "../../examples/channels.ts";
import { checkRecipient } from "../../recipient.ts";
import { route } from "../../routing/route.ts";
import { Recipient, requireChannel } from "./actions.ts";

const PATH = "/api/sessions/main/reply-target";

async function readCurrent({ sessions }: Stores, { initialReplyTarget }: Pick<ApiDeps, "initialReplyTarget">) {
  const stored = await sessions.replyTarget();
  if (stored) return { replyTarget: stored, source: "set" as const };
  return { replyTarget: initialReplyTarget, source: initialReplyTarget && ("configuration" as const) };
}

const getReplyTarget = route({
  method: "get",
  path: PATH,
  operationId: "getReplyTarget",
  scopes: ["runs:read"],
  tag: "sessions",
  summary: "Get the reply target of the main session",
  description:
    "Returns the channel and recipient to which replies of the main session are sent, and every reply that names no recipient of its own.",
  example: examples.getReplyTarget,
  schemas: {},
  answers: { 200: CurrentReplyTarget },
  errors: [],
  async handler(_input, deps) {
    return { status: 200, body: await readCurrent(deps.stores, deps) };
  },
});

const setReplyTarget = route({
  method: "put",
  path: PATH,
  operationId: "setReplyTarget",
  scopes: ["runs:write"],
  tag: "sessions",
  summary: "Set the reply target of the main session",
  description:
    "Sends the replies of the main session to this channel and recipient from now on, in place of `session.main` of the configuration. Replies that are already pending keep their recipient.",
  example: examples.setReplyTarget,
  schemas: {
    body: Type.Object(
      {
        channel: Type.Enum(CHANNELS, { description: "Name of a configured channel." }),
        to: Recipient("The recipient in the notation of the channel, such as a chat id."),
      },
      s.named("ReplyTargetRequest"),
    ),
  },
  answers: { 200: CurrentReplyTarget },
  errors: ["channel_not_found"],
  audit: ({ body: { channel, to } }) => ({ action: "reply-target.set", target: `${channel} ${to.trim()}` }),
  async handler({ body: { channel, to } }, deps) {
    requireChannel(channel, deps);
    await checkRecipient(deps, channel, to);
    await deps.stores.sessions.setReplyTarget({ channel, to });
    return { status: 200, body: await readCurrent(deps.stores, deps) };
  },
});

const clearReplyTarget = route({
  method: "delete",
  path: PATH,
  operationId: "clearReplyTarget",
  scopes: ["runs:write"],
  tag: "sessions",
  summary: "Clear the reply target of the main session",
  description:
    "Removes the target that was set, so that `session.main` of the configuration applies again. Returns the target from now on.",
  example: examples.clearReplyTarget,
  schemas: {},
  answers: { 200: CurrentReplyTarget },
  errors: [],
  audit: () => ({ action: "reply-target.clear", target: "main" }),
  async handler(_input, deps) {
    await deps.stores.sessions.clearReplyTarget();
    return { status: 200, body: await readCurrent(deps.stores, deps) };
  },
});

export const replyTargetRoutes = [getReplyTarget, setReplyTarget, clearReplyTarget];
