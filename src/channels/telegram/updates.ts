import { setTimeout as pause } from "node:timers/promises";
import { ABORTED, type InboundSource } from "../inbound.ts";
import { type TelegramSettings, telegramCaller } from "./api.ts";
import { ALLOWED_UPDATES, readTelegramAct } from "./inbound.ts";
import { inboundFailure, removeWebhook } from "./webhook.ts";

/** Maximum updates of one answer. */
const PAGE = 20;
/** The pause after an answer without a new update, since a server in front of Telegram may not wait for one. */
const IDLE_MS = 250;
/** How much longer than the wait of Telegram a request may take. */
const GRACE_MS = 10_000;

/**
 * Returns the source that asks for a bot's updates, and waits for one for some seconds. A webhook that this service has set before
 * is removed. The offset is nowhere stored: Telegram repeats whatever was not confirmed.
 * @param hooksUrl the public address of the hooks, if there is one
 */
export function telegramUpdates(
  settings: TelegramSettings,
  { waitSeconds, hooksUrl }: { readonly waitSeconds: number; readonly hooksUrl: string | undefined },
): InboundSource {
  const callApi = telegramCaller(settings);
  let limit = PAGE;
  let offset: number | undefined;
  return async (sink, signal) => {
    while (!signal.aborted) {
      const query = {
        timeout: waitSeconds,
        limit,
        allowed_updates: ALLOWED_UPDATES,
        ...(offset !== undefined && { offset }),
      };
      const response = await callApi("POST", "getUpdates", query, signal, waitSeconds * 1_000 + GRACE_MS);
      const { status, json } = response.kind === "response" ? response : {};
      const result: unknown = json?.result;
      if (status === 200 && json?.ok === true && Array.isArray(result)) {
        limit = PAGE;
        await sink.works();
        const known = result.filter((update) => Number.isSafeInteger(update?.update_id));
        await sink.take(known.flatMap((update) => readTelegramAct(settings, update) ?? []));
        const next = known.length > 0 ? Math.max(...known.map(({ update_id }) => update_id)) + 1 : offset;
        if (next === offset) await pause(IDLE_MS, undefined, { signal }).catch(() => {});
        offset = next;
        continue;
      }
      if (status === 200) limit = 1; // the answer may have been too long to be read
      if (status === 409 && hooksUrl !== undefined && (await removeWebhook(callApi, hooksUrl, signal))) continue;
      return inboundFailure(response);
    }
    return ABORTED;
  };
}
