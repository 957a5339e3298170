import type { Config } from "../../config/config.ts";
import { createEndpoints } from "../endpoint.ts";
import { type RequestOutcome, sendRequest } from "../http.ts";

const TIMEOUT_MS = 30_000;

export type TelegramSettings = NonNullable<Config["channels"]["telegram"]>;

/** Calls a method of the Bot API. */
export type TelegramCaller = (
  method: "GET" | "POST",
  name: string,
  body: object | undefined,
  signal: AbortSignal,
  timeoutMs?: number,
) => Promise<RequestOutcome>;

/** Returns a caller of the Bot API. Its paths contain the token, so that no path may be logged or returned. */
export function telegramCaller({ apiUrl, botToken }: TelegramSettings): TelegramCaller {
  const endpoint = createEndpoints("channels.telegram.apiUrl", apiUrl);
  return (method, name, body, signal, timeoutMs = TIMEOUT_MS) =>
    sendRequest({ method, ...endpoint(`/bot${botToken}/${name}`), ...(body && { body }), timeoutMs }, signal);
}
