import type { Config } from "../../config/config.ts";
import { trimSlashes } from "../../shared/address.ts";
import { hasTrunkZero, readPhoneNumber } from "../../shared/recipients/phoneNumber.ts";
import { type Channel, type SendOutcome, WITH_TRUNK_ZERO } from "../channel.ts";
import { createApiCaller, excerpt } from "../http.ts";
import { type ApiResponse, classifyStatus, failureWithoutResponse } from "../httpStatus.ts";
import { classifyError } from "./errors.ts";

/** The version of the Graph API. Meta serves each for about two years. */
const API_VERSION = "v26.0";

const TIMEOUT_MS = 30_000;

/**
 * Creates the channel for WhatsApp, through Meta's Cloud API. `sent` means accepted: WhatsApp reports the arrival of a message
 * only to webhooks. Its marks (`*`, `_`, `~`) cannot be escaped, so that plain text is sent as it is.
 */
export function whatsappChannel(settings: NonNullable<Config["channels"]["whatsapp"]>): Channel {
  const number = `${trimSlashes(settings.apiUrl)}/${API_VERSION}/${encodeURIComponent(settings.phoneNumberId)}`;
  const callApi = createApiCaller(number, { Authorization: `Bearer ${settings.accessToken}` }, TIMEOUT_MS);
  return {
    style: { dialect: "whatsapp", limit: 4_096, unit: "utf16" },
    idempotentForMs: 0,
    async send({ to, text, key }, signal) {
      if (hasTrunkZero(to)) return WITH_TRUNK_ZERO;
      const digits = readPhoneNumber(to);
      if (digits === undefined) {
        return { kind: "gone", reason: "This is not a number with a country code: use one such as +49 151 00000000." };
      }
      const message = {
        messaging_product: "whatsapp",
        recipient_type: "individual",
        to: digits,
        type: "text",
        text: { body: text, preview_url: false },
        biz_opaque_callback_data: key,
      };
      const response = await callApi("POST", "/messages", message, signal);
      return response.kind === "response" ? classify(response) : failureWithoutResponse(response);
    },
    async check(signal) {
      const response = await callApi("GET", "?fields=display_phone_number", undefined, signal);
      if (response.kind !== "response") return { ok: false, detail: response.reason };
      const { display_phone_number: shown } = response.json ?? {};
      if (response.status === 200 && typeof shown === "string")
        return { ok: true, detail: `sends as ${excerpt(shown)}` };
      const result = classify(response);
      return { ok: false, detail: result.kind === "sent" ? "WhatsApp's answer contains no number." : result.reason };
    },
  };
}

/** Classifies a response. An `error` counts whatever the status: Meta advises against relying on the status. */
function classify(response: ApiResponse): SendOutcome {
  const { status, json } = response;
  if (json?.error) return classifyError(response);
  const id = json?.messages?.[0]?.id;
  if (status >= 200 && status < 300 && typeof id === "string") return { kind: "sent", id };
  return classifyStatus("WhatsApp", response);
}
