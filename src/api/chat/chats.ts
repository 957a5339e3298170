import { SenderRefusedError } from "../../hooks/signatures/signature.ts";
import { AppError } from "../../shared/errors.ts";
import type { ApiDeps } from "../deps.ts";
import { mediaType } from "../middleware/body.ts";
import { textBody } from "../middleware/textBody.ts";
import type { Mount, MountDeps } from "../mounts.ts";
import type { ChatRoute } from "./chatRoute.ts";
import { discordRoute } from "./discord.ts";
import { slackRoute } from "./slack.ts";
import { telegramRoute } from "./telegram.ts";

/** Maximum size of a request of a service. */
const MAX_BYTES = 256 * 1024;

/**
 * Adds the addresses to which chat services send what people do, each below the path of the hooks. The service's proof is checked
 * before the body is parsed. An act is stored, and a worker handles it, so that the service gets its response in time: Slack and
 * Discord wait for three seconds.
 */
export function mountChats(mount: MountDeps): Mount {
  const { deps } = mount;
  const routes = new Map(routesOf(deps.chats).map((route) => [`${deps.hooks.path}/${route.channel}`, route]));
  for (const [path, route] of routes) addRoute(mount, path, route);
  return { owns: (path) => routes.has(path), enter: (_, next) => next() };
}

function routesOf({ slack, discord, telegram }: ApiDeps["chats"]): ChatRoute[] {
  return [
    slack?.signingSecret === undefined ? [] : slackRoute(slack.signingSecret),
    discord?.publicKey === undefined ? [] : discordRoute(discord.publicKey),
    telegram?.inbound === "webhook" ? telegramRoute(telegram.botToken) : [],
  ].flat();
}

function addRoute({ deps, router, options, refuse }: MountDeps, path: string, route: ChatRoute): void {
  const { access, stores, queues, clock } = deps;
  const { channel } = route;
  router.post(path, textBody(MAX_BYTES, options.bodies), async (ctx) => {
    ctx.state.operation = path;
    const text = ctx.request.body as string;
    try {
      route.verify(ctx.headers, text, clock.now());
    } catch (error) {
      if (!(error instanceof SenderRefusedError)) throw error;
      await refuse(ctx);
      const detail = `The proof that ${channel} has sent this request is ${error.reason}. ${route.advice}`;
      throw new AppError("unauthorized", { detail });
    }
    const { act, response } = route.read(text, mediaType(ctx));
    if (act && access.isRead(channel, act.event) && (await stores.chatUpdates.add(channel, [act])) > 0) {
      queues.triggerChat();
    }
    ctx.status = 200;
    ctx.body = response;
  });
}
