import { setTimeout as pause } from "node:timers/promises";
import { retryAfterMs } from "../../shared/backoff.ts";
import type { RequestOutcome } from "../http.ts";
import { describeResponse } from "../httpStatus.ts";
import { ABORTED, type InboundFailure, type InboundSource } from "../inbound.ts";
import { type TelegramCaller, type TelegramSettings, telegramCaller } from "./api.ts";
import { ALLOWED_UPDATES, webhookSecret } from "./inbound.ts";

/** How often the webhook is set again, in case another program has removed it. */
const RENEW_MS = 600_000;

export const webhookUrl = (hooksUrl: string): string => `${hooksUrl}/telegram`;

/** Returns the source that makes Telegram send the updates of a bot to the web processes. */
export function telegramWebhook(settings: TelegramSettings, hooksUrl: string): InboundSource {
  const callApi = telegramCaller(settings);
  const url = webhookUrl(hooksUrl);
  const body = { url, secret_token: webhookSecret(settings.botToken), allowed_updates: ALLOWED_UPDATES };
  return async ({ works }, signal) => {
    while (!signal.aborted) {
      const response = await callApi("POST", "setWebhook", body, signal);
      if (response.kind !== "response" || response.json?.ok !== true) return inboundFailure(response);
      await works();
      await pause(RENEW_MS, undefined, { signal }).catch(() => {});
    }
    return ABORTED;
  };
}

/** Removes the webhook of this service, and no other. Updates that wait are kept. @returns whether it was removed */
export async function removeWebhook(callApi: TelegramCaller, hooksUrl: string, signal: AbortSignal): Promise<boolean> {
  const info = await callApi("GET", "getWebhookInfo", undefined, signal);
  if (info.kind !== "response" || info.json?.result?.url !== webhookUrl(hooksUrl)) return false;
  const removed = await callApi("POST", "deleteWebhook", { drop_pending_updates: false }, signal);
  return removed.kind === "response" && removed.json?.ok === true;
}

/** Returns why Telegram does not give or send updates. */
export function inboundFailure(outcome: RequestOutcome): InboundFailure {
  if (outcome.kind !== "response") return { reason: outcome.reason, afterMs: null };
  const { status, json, headers } = outcome;
  const seconds = json?.parameters?.retry_after;
  return { reason: reasonOf(status), afterMs: typeof seconds === "number" ? seconds * 1_000 : retryAfterMs(headers) };
}

function reasonOf(status: number): string {
  const summary = describeResponse("Telegram", status);
  if (status === 409) {
    return `${summary}: another program reads the updates of this bot, or a webhook is set for it. Use a bot of its own.`;
  }
  if (status === 400) return `${summary}: Telegram does not accept server.publicUrl as the address of a webhook.`;
  if (status === 401 || status === 404) return `${summary}: the token does not belong to a bot.`;
  return `${summary}.`;
}
