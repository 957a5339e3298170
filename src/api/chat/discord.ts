import { verify } from "node:crypto";
import { DEFERRED_UPDATE, discordKey, PING, PONG, readDiscordPress } from "../../channels/discord/inbound.ts";
import { DEFAULT_TOLERANCE_SECONDS, parseDigits, singleHeader } from "../../hooks/signatures/readSignature.ts";
import { checkTime, SenderRefusedError } from "../../hooks/signatures/signature.ts";
import { type ChatRoute, parseObject } from "./chatRoute.ts";

/** Returns the address of Discord's interactions. Discord does not repeat one that was not answered within three seconds. */
export function discordRoute(publicKey: string): ChatRoute {
  const key = discordKey(publicKey);
  return {
    channel: "discord",
    advice: "Check channels.discord.publicKey and the clock of this machine.",
    verify(headers, text, now) {
      const timestamp = singleHeader(headers, "x-signature-timestamp");
      const signature = Buffer.from(singleHeader(headers, "x-signature-ed25519"), "hex");
      checkTime(parseDigits(timestamp), DEFAULT_TOLERANCE_SECONDS, now);
      if (!verify(null, Buffer.from(timestamp + text), key, signature)) throw new SenderRefusedError("wrong");
    },
    read(text) {
      const interaction = parseObject(text);
      if (interaction.type === PING) return { act: null, response: PONG };
      return { act: readDiscordPress(interaction), response: DEFERRED_UPDATE };
    },
  };
}
