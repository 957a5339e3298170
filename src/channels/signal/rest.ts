import { readRecipient, type SignalRecipient } from "../../shared/recipients/signal.ts";
import type { Channel, SendOutcome } from "../channel.ts";
import { createEndpoints } from "../endpoint.ts";
import { type RequestOutcome, sendRequest } from "../http.ts";
import { classifyStatus, describeResponse, type Failure, failureWithoutResponse } from "../httpStatus.ts";
import { redactWithNames } from "../redact.ts";
import { classifyRateLimit, classifyResults, INVALID_RECIPIENT, type RecipientResult } from "./results.ts";

const NAME = "signal-cli-rest-api";
/** signal-cli-rest-api gives signal-cli two minutes. */
const SEND_TIMEOUT_MS = 150_000;
const CHECK_TIMEOUT_MS = 10_000;

/**
 * Outcome by error text: signal-cli-rest-api has status 400 for all errors. Any other text is `transient`, since most such
 * errors are, and the rest fails after a few retries.
 */
const ERROR_PATTERNS: readonly (readonly [RegExp, "gone" | "authentication" | "ambiguous"])[] = [
  // signal-cli was killed after a time-out, or failed internally; both also happen for messages that arrive.
  [/process killed as timeout reached|UnexpectedErrorException/, "ambiguous"],
  [/Specified account does not exist|^User \+\d+ is not registered/m, "authentication"],
  [/The user .{1,80} is not registered|Unregistered user/, "gone"],
  [/untrusted (recipient keys|identit)|Untrusted Identity/, "gone"],
];

interface SignalSettings {
  readonly account: string;
  readonly apiUrl: string;
}

/** Sends Signal messages through bbernhard's signal-cli-rest-api. */
export function signalRest({ account, apiUrl }: SignalSettings): Pick<Channel, "send" | "check"> {
  const endpoint = createEndpoints("channels.signal.apiUrl", apiUrl);
  const get = (path: string, signal: AbortSignal) =>
    sendRequest({ method: "GET", ...endpoint(path), timeoutMs: CHECK_TIMEOUT_MS }, signal);
  return {
    async send({ to, text, plain }, signal) {
      const recipient = readRecipient(to);
      if (!recipient) return INVALID_RECIPIENT;
      // The mode is always set, as a server's default may be `styled`.
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
        const found = about.status === 200 ? "no signal-cli-rest-api's answer" : `${about.status}`;
        return { ok: false, detail: `GET /v1/about of channels.signal.apiUrl is answered with ${found}.` };
      }
      const accounts = await get("/v1/accounts", signal);
      // Older versions do not list accounts; the account counts as present then.
      const listed = accounts.kind === "response" && Array.isArray(accounts.json) ? accounts.json : [account];
      return listed.includes(account)
        ? { ok: true, detail: `sends as ${account}` }
        : { ok: false, detail: `${NAME} has no account ${account}.` };
    },
  };
}

/** Returns the recipient in the server's notation, in which a group's id is the base64 of signal-cli's id. */
function toRestRecipient({ kind, id }: SignalRecipient): string {
  return kind === "group" ? `group.${Buffer.from(id, "latin1").toString("base64")}` : id;
}

function classify(
  response: RequestOutcome,
  { kind }: SignalRecipient,
  names: readonly string[],
  text: string,
): SendOutcome {
  if (response.kind !== "response") return failureWithoutResponse(response);
  const { status, json } = response;
  if (status >= 200 && status < 300) {
    // Newer versions (since July 2026) return a list.
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
  // The server also returns this status for messages that were sent.
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

/** Reads a rate limit from the text of older versions of signal-cli, which do not print results as JSON. */
function readRateLimit(error: string): Failure | undefined {
  const captcha = /CAPTCHA proof required.*?(?:wait "(\d+)"|$)/m.exec(error);
  const match = captcha ?? /Rate limit failure.*?(?:after (\d+) seconds|$)/m.exec(error);
  if (!match) return undefined;
  const seconds = Number(match[1]);
  return classifyRateLimit(captcha !== null, seconds > 0 ? seconds * 1_000 : null);
}

/** Reads results from the output of a signal-cli that is started for each message; one line of it is JSON. */
function readResults(error: string): RecipientResult[] | undefined {
  for (const line of error.split("\n")) {
    if (!line.startsWith("{")) continue;
    try {
      const { results } = JSON.parse(line);
      if (Array.isArray(results)) return results;
    } catch {
      // The line is ordinary text.
    }
  }
  return undefined;
}
