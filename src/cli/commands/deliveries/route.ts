import { type CurrentReplyTarget, channelCalls } from "../../../client/calls/channels.ts";
import { parseRecipient } from "../../recipient.ts";
import { withService } from "../../service.ts";
import type { ServiceOptions } from "../../serviceAccess.ts";
import { cleanJson, cleanLine } from "../../terminal/cleanText.ts";
import { print } from "../../terminal/words.ts";

export type RouteOptions = ServiceOptions & { readonly json?: boolean };

type Calls = ReturnType<typeof channelCalls>;

/** `route show`: prints where replies of the main session go. */
export const showRoute = (env: NodeJS.ProcessEnv, options: RouteOptions): Promise<void> =>
  printTarget(env, options, ({ replyTarget }) => replyTarget());

/**
 * `route set CHANNEL TO`: sends replies of the main session there from now on.
 * @throws CommandError if the recipient is invalid
 */
export function setRoute(env: NodeJS.ProcessEnv, channel: string, typed: string, options: RouteOptions): Promise<void> {
  const to = parseRecipient(typed);
  return printTarget(env, options, ({ setReplyTarget }) => setReplyTarget({ channel, to }));
}

/** `route clear`: lets `session.main` of the configuration apply again. */
export const clearRoute = (env: NodeJS.ProcessEnv, options: RouteOptions): Promise<void> =>
  printTarget(env, options, ({ clearReplyTarget }) => clearReplyTarget());

function printTarget(
  env: NodeJS.ProcessEnv,
  options: RouteOptions,
  act: (calls: Calls) => Promise<CurrentReplyTarget>,
): Promise<void> {
  return withService(env, options, async ({ client }) => {
    const current = await act(channelCalls(client.call));
    print([options.json ? cleanJson(current) : targetLine(current)]);
  });
}

function targetLine({ replyTarget, source }: CurrentReplyTarget): string {
  if (!replyTarget) return "No reply target is set. Set one with `signalbox route set CHANNEL TO`.";
  const { channel, to } = replyTarget;
  return `${channel} ${cleanLine(to)}${source === "configuration" ? " (session.main)" : ""}`;
}
