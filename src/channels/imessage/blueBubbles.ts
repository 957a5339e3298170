import { type ImessageRecipient, namesOf, readRecipient } from "../../shared/recipients/imessage.ts";
import type { Channel, OutgoingMessage, SendOutcome } from "../channel.ts";
import { createEndpoints } from "../endpoint.ts";
import { type RequestOutcome, sendRequest } from "../http.ts";
import {
  type ApiResponse,
  classifyStatus,
  codeOf,
  describeResponse,
  type Failure,
  failureWithoutResponse,
} from "../httpStatus.ts";
import { redactWithNames } from "../redact.ts";
import { invalidRecipient } from "./invalidRecipient.ts";

const NAME = "BlueBubbles";
/** BlueBubbles waits up to two minutes for the message to appear in the database of Messages. */
const SEND_TIMEOUT_MS = 150_000;
const CHECK_TIMEOUT_MS = 10_000;

/** The code of Messages for an address without iMessage. */
const NOT_REGISTERED = 22;

/** Statuses that BlueBubbles returns; any other comes from a proxy before it. */
const OWN_STATUSES: readonly number[] = [400, 401, 403, 404, 500, 504];

const ALREADY_QUEUED = /already queued/i;
const CHAT_NOT_FOUND = /chat (does not exist|not found)/i;

interface BlueBubblesSettings {
  readonly apiUrl: string;
  readonly password?: string | undefined;
  readonly method: "apple-script" | "private-api";
}

/** Sends iMessages through a BlueBubbles server. Addresses contain its password, so that no address may be logged or returned. */
export function blueBubbles({ apiUrl, password = "", method }: BlueBubblesSettings): Pick<Channel, "send" | "check"> {
  const endpoint = createEndpoints("channels.imessage.apiUrl", apiUrl);
  const query = { password };
  const passwordForms = [password, encodeURIComponent(password), `${new URLSearchParams({ "": password })}`.slice(1)];
  const post = (path: string, body: object, signal: AbortSignal) =>
    sendRequest({ method: "POST", ...endpoint(`/api/v1${path}`, query), body, timeoutMs: SEND_TIMEOUT_MS }, signal);
  return {
    async send(message, signal) {
      const recipient = readRecipient(message.to);
      if (!recipient) return invalidRecipient(message.to);
      const { text, key: tempGuid } = message;
      const redactions = { names: namesOf(recipient), secrets: [...passwordForms, text] };
      const body = { chatGuid: recipient.guid, tempGuid, message: text, method };
      const response = await post("/message/text", body, signal);
      if (recipient.kind === "chat" || !isMissingChat(response)) return classify(response, redactions);
      const chat = { ...newChat(recipient, message), method };
      return classify(await post("/chat/new", chat, signal), redactions);
    },
    async check(signal) {
      const response = await sendRequest(
        { method: "GET", ...endpoint("/api/v1/ping", query), timeoutMs: CHECK_TIMEOUT_MS },
        signal,
      );
      if (response.kind !== "response") return { ok: false, detail: response.reason };
      if (response.status === 200 && response.json?.data === "pong") return { ok: true, detail: "BlueBubbles answers" };
      const result = classify(response, { names: [], secrets: passwordForms });
      return {
        ok: false,
        detail: result.kind === "sent" ? "The server at this address is not BlueBubbles." : result.reason,
      };
    },
  };
}

function newChat(
  { address, service }: Extract<ImessageRecipient, { kind: "address" }>,
  message: OutgoingMessage,
): object {
  return {
    addresses: [address],
    message: message.text,
    service: service === "SMS" ? "SMS" : "iMessage",
    tempGuid: message.key,
  };
}

/** Returns whether the message was not sent because the chat does not exist yet. */
function isMissingChat(response: RequestOutcome): boolean {
  if (response.kind !== "response" || response.status < 400) return false;
  return isFromBlueBubbles(response) && (response.status === 404 || CHAT_NOT_FOUND.test(readErrorText(response).words));
}

const isFromBlueBubbles = ({ status, json }: ApiResponse) =>
  OWN_STATUSES.includes(status) && Boolean(json?.error?.type);

/** Texts to remove from BlueBubbles' error texts: the recipient's names, and secrets. */
interface Redactions {
  readonly names: readonly string[];
  readonly secrets: readonly string[];
}

function classify(response: RequestOutcome, { names, secrets }: Redactions): SendOutcome {
  if (response.kind !== "response") return failureWithoutResponse(response);
  const { status, json } = response;
  if (status >= 200 && status < 300) {
    const { guid, messages } = json?.data ?? {};
    if (typeof guid !== "string") return classifyStatus(NAME, response);
    // The response to a new chat holds its first message.
    const id = Array.isArray(messages) ? messages[0]?.guid : guid;
    return { kind: "sent", id: typeof id === "string" ? id : null };
  }
  // BlueBubbles also returns this status for messages that were sent.
  if (status === 500 && response.isTruncated)
    return { kind: "ambiguous", reason: `${describeResponse(NAME, status)}, cut off.` };
  if (!isFromBlueBubbles(response)) return classifyStatus(NAME, response);
  const errorText = readErrorText(response);
  const code = messageErrorCode(response);
  const words = [redactWithNames(names, errorText.words, ...secrets), code && `Messages' error ${code}`]
    .filter(Boolean)
    .join("; ");
  const reason = `${describeResponse(NAME, status, codeOf(json.error.type))}${words && `: ${words}`}`;
  return { kind: classifyError(response, errorText, code), reason };
}

/** The text of an error. */
interface ErrorText {
  readonly words: string;
  /** Whether the text comes from AppleScript, which means that Messages refused the message. */
  readonly isRefusal: boolean;
}

/** Reads the text of an error. Of a failed script it keeps only the end, as the beginning is the script with the message. */
function readErrorText({ json }: ApiResponse): ErrorText {
  const message = json?.error?.message;
  const errorText = typeof message === "string" ? message : "";
  if (!errorText.startsWith("Command failed")) return { words: errorText, isRefusal: false };
  const end =
    errorText
      .split(/(?:execution|syntax) error: /)
      .slice(1)
      .at(-1) ?? "";
  return { words: end, isRefusal: end !== "" && !/timed out|-1712/.test(end) };
}

/** Returns the error code of Messages if it tried to send the message. */
function messageErrorCode({ json }: ApiResponse): number | undefined {
  const code = json?.data?.error;
  return typeof code === "number" && code !== 0 ? code : undefined;
}

function classifyError(
  { status, json }: ApiResponse,
  { words, isRefusal }: ErrorText,
  code: number | undefined,
): Exclude<Failure["kind"], "rate-limited"> {
  if (status === 401 || status === 403) return "authentication";
  // An earlier attempt to send this message is still in progress.
  if (ALREADY_QUEUED.test(words)) return "ambiguous";
  if (status === 400) return "content";
  if (status === 404 || CHAT_NOT_FOUND.test(words)) return "gone";
  if (code !== undefined) return code === NOT_REGISTERED ? "gone" : "transient";
  if (isRefusal || json.error.type === "Database Error" || /Private API (Helper )?is not/.test(words))
    return "transient";
  // BlueBubbles waited for the message without success or failed afterwards: the message was probably sent.
  return "ambiguous";
}
