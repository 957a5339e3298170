import { readConfig } from "../../shared/config/load.ts";
import { parseRecipient } from "../recipient.ts";
import { withStores } from "../withStores.ts";

/**
 * `route show`: prints where replies of the main session are sent.
 * @throws StartError if MongoDB cannot be used
 */
export async function showRoute(env: NodeJS.ProcessEnv): Promise<void> {
  const config = readConfig(env);
  const route = await withStores(config, ({ sessions }) => sessions.replyTarget());
  if (route) console.log(`${route.channel} ${route.to}`);
  else if (config.session.main) console.log(`${config.session.main.channel} ${config.session.main.to} (session.main)`);
  else console.log("No route is set. Set one with `signalbox route set CHANNEL TO`.");
}

/**
 * `route set CHANNEL TO`: sends replies of the main session there from now on.
 * @throws CommandError if the recipient is invalid, StartError if MongoDB cannot be used
 */
export async function setRoute(env: NodeJS.ProcessEnv, channel: string, typed: string): Promise<void> {
  const to = parseRecipient(typed);
  await withStores(readConfig(env), ({ sessions }) => sessions.setReplyTarget({ channel, to }));
  console.log(`Replies of the main session go to ${channel} ${to}.`);
}
