import { retryAfterMs } from "../../shared/backoff.ts";
import type { ChatEvent } from "../../shared/chatEvent.ts";
import { describeResponse } from "../httpStatus.ts";
import { type TelegramSettings, telegramCaller } from "./api.ts";
import { ALLOWED_UPDATES, readTelegramUpdate } from "./inbound.ts";

/** Maximum updates of one answer. */
const PAGE = 20;
/** How much longer than the wait of Telegram a request may take. */
const GRACE_MS = 10_000;

/** An update of the service: its id, which the service never gives twice, and the act of a person, if it is one. */
interface ReceivedUpdate {
  readonly id: string;
  readonly event: ChatEvent | null;
}

/** How a request for updates ended. `next` is the offset that confirms these updates; `afterMs` is null without a stated pause. */
type UpdatesOutcome =
  | { readonly kind: "updates"; readonly updates: readonly ReceivedUpdate[]; readonly next: number | undefined }
  | { readonly kind: "failed"; readonly afterMs: number | null; readonly reason: string };

/** Asks for the updates from an offset on, or for all that were not confirmed. */
export type UpdatesReader = (offset: number | undefined, signal: AbortSignal) => Promise<UpdatesOutcome>;

/** Returns the reader of a bot's updates, which waits for one for some seconds. */
export function telegramUpdates(settings: TelegramSettings, waitSeconds: number): UpdatesReader {
  const callApi = telegramCaller(settings);
  const [bot] = settings.botToken.split(":", 1);
  let limit = PAGE;
  return async (offset, signal) => {
    const query = {
      timeout: waitSeconds,
      limit,
      allowed_updates: ALLOWED_UPDATES,
      ...(offset !== undefined && { offset }),
    };
    const response = await callApi("POST", "getUpdates", query, signal, waitSeconds * 1_000 + GRACE_MS);
    if (response.kind !== "response") return { kind: "failed", afterMs: null, reason: response.reason };
    const { status, json, headers } = response;
    const result: unknown = json?.result;
    if (status === 200 && json?.ok === true && Array.isArray(result)) {
      limit = PAGE;
      const known = result.filter((update) => Number.isSafeInteger(update?.update_id));
      const updates = known.map((update) => ({ id: `${bot}:${update.update_id}`, event: readTelegramUpdate(update) }));
      const next = known.length === 0 ? offset : Math.max(...known.map(({ update_id }) => update_id)) + 1;
      return { kind: "updates", updates, next };
    }
    if (status === 200) limit = 1; // the answer may have been too long to be read
    const seconds = json?.parameters?.retry_after;
    const afterMs = typeof seconds === "number" ? seconds * 1_000 : retryAfterMs(headers);
    return { kind: "failed", afterMs, reason: reasonOf(status) };
  };
}

function reasonOf(status: number): string {
  const summary = describeResponse("Telegram", status);
  if (status === 409) {
    return `${summary}: another program reads the updates of this bot, or a webhook is set for it. Use a bot of its own.`;
  }
  if (status === 401 || status === 404) return `${summary}: the token does not belong to a bot.`;
  return `${summary}.`;
}
