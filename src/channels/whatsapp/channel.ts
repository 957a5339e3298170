import { trimSlashes } from "../../shared/address.ts";
import type { Config } from "../../shared/config/schema/config.ts";
import type { Channel, SendResult } from "../channel.ts";
import { asker, inWords } from "../http.ts";
import { type Answered, judgeStatus, unanswered } from "../httpStatus.ts";
import { hasTrunkZero, WITH_TRUNK_ZERO } from "../trunkZero.ts";
import { judgeError } from "./errors.ts";

const TIMEOUT_MS = 30_000;

/**
 * WhatsApp, through Meta's Cloud API. `sent` says that it was accepted; whether it arrived, WhatsApp tells webhooks only.
 * There is no way to show its own marks (`*`, `_`, `~`) letter by letter: plain text goes as it is.
 */
export function whatsappChannel(settings: NonNullable<Config["channels"]["whatsapp"]>): Channel {
  const number = `${trimSlashes(settings.apiUrl)}/${settings.apiVersion}/${encodeURIComponent(settings.phoneNumberId)}`;
  const ask = asker(number, { Authorization: `Bearer ${settings.accessToken}` }, TIMEOUT_MS);
  return {
    style: { dialect: "whatsapp", limit: 4_096, unit: "utf16" },
    idempotentForMs: 0,
    async send({ to, text, key }, signal) {
      if (hasTrunkZero(to)) return WITH_TRUNK_ZERO;
      const digits = to.replace(/[+\s()-]/g, "");
      if (!/^[1-9]\d{4,14}$/.test(digits)) {
        return { kind: "gone", reason: "No number with its country code, such as +49 151 00000000." };
      }
      const message = {
        messaging_product: "whatsapp",
        recipient_type: "individual",
        to: digits,
        type: "text",
        text: { body: text, preview_url: false },
        biz_opaque_callback_data: key,
      };
      const answer = await ask("POST", "/messages", message, signal);
      return answer.kind === "answer" ? judge(answer) : unanswered(answer);
    },
    async check(signal) {
      const answer = await ask("GET", "?fields=display_phone_number", undefined, signal);
      if (answer.kind !== "answer") return { ok: false, detail: answer.reason };
      const { display_phone_number: shown } = answer.json ?? {};
      if (answer.status === 200 && typeof shown === "string")
        return { ok: true, detail: `it sends as ${inWords(shown)}` };
      const result = judge(answer);
      return { ok: false, detail: result.kind === "sent" ? "WhatsApp's answer names no number." : result.reason };
    },
  };
}

/** An error is one whatever the status says, which Meta advises against deciding by. */
function judge(answer: Answered): SendResult {
  const { status, json } = answer;
  if (json?.error) return judgeError(answer);
  const id = json?.messages?.[0]?.id;
  if (status >= 200 && status < 300 && typeof id === "string") return { kind: "sent", id };
  return judgeStatus("WhatsApp", answer);
}
