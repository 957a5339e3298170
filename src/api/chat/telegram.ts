import { readTelegramAct, webhookSecret } from "../../channels/telegram/inbound.ts";
import { singleHeader } from "../../hooks/signatures/readSignature.ts";
import { SenderRefusedError } from "../../hooks/signatures/signature.ts";
import { secretsEqual } from "../../shared/access/secretsEqual.ts";
import { type ChatRoute, parseObject } from "./chatRoute.ts";

/** Returns the address of Telegram's updates, whose secret Telegram got with the address. It repeats what was not acknowledged. */
export function telegramRoute(botToken: string): ChatRoute {
  const secret = webhookSecret(botToken);
  return {
    channel: "telegram",
    advice: "Only Telegram has it: check that no other program has set the webhook of the bot.",
    verify(headers) {
      const given = singleHeader(headers, "x-telegram-bot-api-secret-token");
      if (!secretsEqual(given, secret)) throw new SenderRefusedError("wrong");
    },
    read: (text) => ({ act: readTelegramAct({ botToken }, parseObject(text)), response: "" }),
  };
}
