import { readRecipient, type SignalRecipient } from "../../shared/recipients/signal.ts";
import type { Channel, OutgoingMessage, SendOutcome } from "../channel.ts";
import { createEndpoints } from "../endpoint.ts";
import { type RequestOutcome, sendRequest } from "../http.ts";
import { classifyStatus, failureWithoutResponse } from "../httpStatus.ts";
import { redactWithNames } from "../redact.ts";
import { classifyRateLimit, classifyResults, INVALID_RECIPIENT } from "./results.ts";
import { readStyles } from "./styles.ts";

const NAME = "signal-cli";
const SEND_TIMEOUT_MS = 150_000;
const CHECK_TIMEOUT_MS = 10_000;

/** Outcome by JSON-RPC error code, for errors without results. */
const CODES: Readonly<Record<number, "gone" | "transient" | "authentication">> = {
  // User error: an unknown group, a group without the account, or an invalid number.
  [-1]: "gone",
  [-3]: "transient",
  [-4]: "gone",
  // An unknown method or account: each message would fail.
  [-32600]: "authentication",
  [-32601]: "authentication",
  [-32602]: "authentication",
  [-32700]: "authentication",
};

interface SignalSettings {
  readonly account: string;
  readonly apiUrl: string;
}

/** Sends Signal messages through signal-cli's own `daemon --http`. */
export function signalDaemon({ account, apiUrl }: SignalSettings): Pick<Channel, "send" | "check"> {
  const endpoint = createEndpoints("channels.signal.apiUrl", apiUrl);
  const call = (id: string, method: string, params: object, timeoutMs: number, signal: AbortSignal) => {
    const body = { jsonrpc: "2.0", id, method, params };
    return sendRequest({ method: "POST", ...endpoint("/api/v1/rpc"), body, timeoutMs }, signal);
  };
  return {
    async send(message, signal) {
      const recipient = readRecipient(message.to);
      if (!recipient) return INVALID_RECIPIENT;
      const params = { account, ...recipientParams(recipient), ...textParams(message) };
      const response = await call(message.key, "send", params, SEND_TIMEOUT_MS, signal);
      return classify(response, [message.to, recipient.id], message.text);
    },
    async check(signal) {
      const response = await call("check", "listAccounts", {}, CHECK_TIMEOUT_MS, signal);
      if (response.kind !== "response") return { ok: false, detail: response.reason };
      const { result, error } = response.json ?? {};
      // A daemon that was started for a single account does not have this method.
      if (error?.code === -32601)
        return { ok: true, detail: "signal-cli answers, with the one account that it was started for" };
      if (!Array.isArray(result)) {
        const classified = classify(response, [], "");
        return { ok: false, detail: classified.kind === "sent" ? "signal-cli lists no accounts." : classified.reason };
      }
      return result.some((listed) => listed?.number === account)
        ? { ok: true, detail: `sends as ${account}` }
        : { ok: false, detail: `signal-cli has no account ${account}.` };
    },
  };
}

function recipientParams({ kind, id }: SignalRecipient): object {
  if (kind === "group") return { groupId: id };
  return kind === "username" ? { username: [id] } : { recipient: [id] };
}

function textParams({ text, plain }: OutgoingMessage): object {
  if (plain) return { message: text };
  const styled = readStyles(text);
  return { message: styled.text, ...(styled.styles.length > 0 && { textStyle: styled.styles }) };
}

function classify(response: RequestOutcome, names: readonly string[], text: string): SendOutcome {
  if (response.kind !== "response") return failureWithoutResponse(response);
  const { status, json } = response;
  if (status === 421) {
    const reason = "signal-cli answered 421: use the name that it listens on, or localhost, in channels.signal.apiUrl.";
    return { kind: "authentication", reason };
  }
  if (status !== 200) return classifyStatus(NAME, response);
  if (Number.isInteger(json?.error?.code)) return classifyError(json.error, names, text);
  const { timestamp, results = [] } = json?.result ?? {};
  if (!Number.isInteger(timestamp) || !Array.isArray(results)) return classifyStatus(NAME, response);
  return classifyResults(results) ?? { kind: "sent", id: String(timestamp) };
}

// biome-ignore lint/suspicious/noExplicitAny: a response can have any shape
function classifyError({ code, message, data }: any, names: readonly string[], text: string): SendOutcome {
  const words = redactWithNames(names, message, text);
  const reason = `signal-cli answered error ${code}${words && `: ${words}`}`;
  const results = data?.response?.results;
  const failure = Array.isArray(results) ? classifyResults(results) : undefined;
  if (failure) return failure;
  if (code === -5) return classifyRateLimit(false, null);
  // The code of a rejected captcha, which implies an active rate limit.
  if (code === -6) return classifyRateLimit(true, null);
  // signal-cli returns -32603, an internal error, also for messages that arrive.
  return { kind: CODES[code] ?? "ambiguous", reason };
}
