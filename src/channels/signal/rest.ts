import type { Channel, SendResult } from "../channel.ts";
import { createEndpoints } from "../endpoint.ts";
import { type ApiResult, sendRequest } from "../http.ts";
import { classifyStatus, describeResponse, type Failure, failureWithoutResponse } from "../httpStatus.ts";
import { redactWithNames } from "../redact.ts";
import { INVALID_RECIPIENT, readRecipient, type SignalRecipient } from "./recipient.ts";
import { classifyRateLimit, classifyResults, type RecipientResult } from "./results.ts";

const NAME = "signal-cli-rest-api";
/** It gives signal-cli two minutes. */
const SEND_TIMEOUT_MS = 150_000;
const CHECK_TIMEOUT_MS = 10_000;

/**
 * What it says in the one status that it has for all errors, 400. What is not here is tried again a few times: most of it
 * passes, and the rest comes to the same end a little later.
 */
const ERROR_PATTERNS: readonly (readonly [RegExp, "gone" | "authentication" | "ambiguous"])[] = [
  // It gave up waiting and killed signal-cli, which may have sent it; an inner error has been seen of messages that arrived.
  [/process killed as timeout reached|UnexpectedErrorException/, "ambiguous"],
  [/Specified account does not exist|^User \+\d+ is not registered/m, "authentication"],
  [/The user .{1,80} is not registered|Unregistered user/, "gone"],
  [/untrusted (recipient keys|identit)|Untrusted Identity/, "gone"],
];

interface SignalSettings {
  readonly account: string;
  readonly apiUrl: string;
}

/** Signal, through bbernhard's signal-cli-rest-api. */
export function signalRest({ account, apiUrl }: SignalSettings): Pick<Channel, "send" | "check"> {
  const endpoint = createEndpoints("channels.signal.apiUrl", apiUrl);
  const get = (path: string, signal: AbortSignal) =>
    sendRequest({ method: "GET", ...endpoint(path), timeoutMs: CHECK_TIMEOUT_MS }, signal);
  return {
    async send({ to, text, plain }, signal) {
      const recipient = readRecipient(to);
      if (!recipient) return INVALID_RECIPIENT;
      // The mode is always named: a server may have `styled` for its default.
      const body = {
        number: account,
        recipients: [toRestRecipient(recipient)],
        message: text,
        text_mode: plain ? "normal" : "styled",
      };
      const response = await sendRequest(
        { method: "POST", ...endpoint("/v2/send"), body, timeoutMs: SEND_TIMEOUT_MS },
        signal,
      );
      return classify(response, recipient, [to, recipient.id], text);
    },
    async check(signal) {
      const about = await get("/v1/about", signal);
      if (about.kind !== "response") return { ok: false, detail: about.reason };
      if (about.status !== 200 || !about.json?.versions) {
        const says = about.status === 200 ? "no signal-cli-rest-api's answer" : `${about.status}`;
        return { ok: false, detail: `GET /v1/about of channels.signal.apiUrl is answered with ${says}.` };
      }
      const accounts = await get("/v1/accounts", signal);
      // Older ones have no such list: then nothing is said against the account.
      const known = accounts.kind === "response" && Array.isArray(accounts.json) ? accounts.json : [account];
      return known.includes(account)
        ? { ok: true, detail: `it sends as ${account}` }
        : { ok: false, detail: `${NAME} has no account ${account}.` };
    },
  };
}

/** A group's id is base64 of signal-cli's. */
function toRestRecipient({ kind, id }: SignalRecipient): string {
  return kind === "group" ? `group.${Buffer.from(id, "latin1").toString("base64")}` : id;
}

function classify(response: ApiResult, { kind }: SignalRecipient, names: readonly string[], text: string): SendResult {
  if (response.kind !== "response") return failureWithoutResponse(response);
  const { status, json } = response;
  if (status >= 200 && status < 300) {
    // Since July 2026 it is a list.
    const [sent] = [json].flat();
    const timestamp = sent?.timestamp;
    if (typeof timestamp !== "string" || timestamp === "") return classifyStatus(NAME, response);
    const failed = sent.errors?.recipients;
    const failure = kind !== "group" && Array.isArray(failed) ? classifyResults(failed.map(toResult)) : undefined;
    return failure ?? { kind: "sent", id: timestamp };
  }
  const tokens = json?.challenge_tokens;
  if (status === 429 && Array.isArray(tokens)) return classifyRateLimit(tokens.some(Boolean), null);
  if (status === 400 && typeof json?.error === "string") return classifyErrorText(json.error, names, text);
  // With this status it says of messages, too, that were sent.
  if (status === 400 && response.isTruncated)
    return { kind: "ambiguous", reason: `${describeResponse(NAME, status)}, cut off.` };
  return classifyStatus(NAME, response);
}

const toResult = (failed: { reason?: unknown } | null): RecipientResult => ({ type: failed?.reason });

function classifyErrorText(error: string, names: readonly string[], text: string): Failure {
  const results = readResults(error);
  const failure = results ? classifyResults(results) : readRateLimit(error);
  if (failure) return failure;
  const words = redactWithNames(names, error, text);
  const kind = ERROR_PATTERNS.find(([pattern]) => pattern.test(error))?.[1] ?? "transient";
  return { kind, reason: `${NAME} answered 400${words && `: ${words}`}` };
}

/** A limit, as signal-cli told of it before its results came as JSON. */
function readRateLimit(error: string): Failure | undefined {
  const captcha = /CAPTCHA proof required.*?(?:wait "(\d+)"|$)/m.exec(error);
  const match = captcha ?? /Rate limit failure.*?(?:after (\d+) seconds|$)/m.exec(error);
  if (!match) return undefined;
  const seconds = Number(match[1]);
  return classifyRateLimit(captcha !== null, seconds > 0 ? seconds * 1_000 : null);
}

/** Where signal-cli is run for each message, the words are what it printed: its results as a line of JSON among them. */
function readResults(error: string): RecipientResult[] | undefined {
  for (const line of error.split("\n")) {
    if (!line.startsWith("{")) continue;
    try {
      const { results } = JSON.parse(line);
      if (Array.isArray(results)) return results;
    } catch {
      // Then it is in words.
    }
  }
  return undefined;
}
