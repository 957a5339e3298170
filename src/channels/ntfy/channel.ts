import { isNtfyTopic } from "../../config/channels/recipients.ts";
import type { Config } from "../../config/config.ts";
import { pressUrl } from "../../shared/chatEvent.ts";
import type { Channel, MessageButton, OutgoingMessage, SendOutcome } from "../channel.ts";
import { createEndpoints } from "../endpoint.ts";
import { excerpt, sendRequest } from "../http.ts";
import {
  type ApiResponse,
  classifyStatus,
  describeResponse,
  type Failure,
  failureWithoutResponse,
} from "../httpStatus.ts";
import { paceAt, QUIET_PRIORITY, sequenceOf } from "./edit.ts";

const TIMEOUT_MS = 30_000;

/** Length from which ntfy turns a message into an attachment. */
const LIMIT_BYTES = 4_096;
/** Maximum characters of a title: phones show fewer. */
const MAX_TITLE_CHARS = 250;

/**
 * Creates the channel for ntfy.
 * @param publicUrl the address of the service, to which phones send the presses of buttons
 *
 * Messages are plain text, because not every app of ntfy shows Markdown. ntfy has no idempotency
 * key.
 */
export function ntfyChannel(settings: NonNullable<Config["channels"]["ntfy"]>, publicUrl = ""): Channel {
  const endpoint = createEndpoints("channels.ntfy.baseUrl", settings.baseUrl);
  const authorization = settings.token ? { Authorization: `Bearer ${settings.token}` } : {};
  /** @param sequence the id of the messages that replace each other; missing for one that stands alone */
  async function publish(
    message: OutgoingMessage,
    sequence: string | undefined,
    priority: number,
    signal: AbortSignal,
  ) {
    const { text, title, link, buttons = [] } = message;
    const topic = message.to.trim();
    if (!isNtfyTopic(topic)) {
      return { kind: "gone", reason: "This is not an ntfy topic: use up to 64 letters, digits, - and _." } as const;
    }
    const { url, headers } = endpoint(`/${topic}`);
    const fields = {
      "Content-Type": "text/plain; charset=utf-8",
      Priority: String(priority),
      ...(title && { Title: headerText(title) }),
      ...(link && { Click: new URL(link).href }),
      ...(buttons.length > 0 && { Actions: actionsOf(buttons, publicUrl) }),
      ...(sequence !== undefined && { "X-Sequence-ID": sequence }),
    };
    const request = { method: "POST", url, headers: { ...headers, ...authorization, ...fields }, body: text } as const;
    const response = await sendRequest({ ...request, timeoutMs: TIMEOUT_MS }, signal);
    if (response.kind !== "response") return failureWithoutResponse(response);
    const outcome: SendOutcome = classifyResponse(response);
    if (outcome.kind !== "sent" || sequence === undefined) return outcome;
    const id = sequenceOf(response.json, sequence);
    return { kind: "sent", id, ...(settings.answers && id !== null && { refs: [`${topic}/${id}`] }) } as const;
  }
  const quiet = Math.min(settings.priority, QUIET_PRIORITY);
  const pace = paceAt(settings.baseUrl);
  return {
    style: { dialect: "plain", limit: LIMIT_BYTES, unit: "bytes" },
    idempotentForMs: 0,
    send(message, signal) {
      const isReplaced = message.live || message.buttons;
      return publish(message, isReplaced && message.key, message.live ? quiet : settings.priority, signal);
    },
    editing: {
      paceOf: () => pace,
      edit: (message, id, signal) => publish(message, id, quiet, signal),
    },
    async check(signal) {
      const { url, headers } = endpoint("/v1/account");
      const request = { method: "GET", url, headers: { ...headers, ...authorization } } as const;
      const response = await sendRequest({ ...request, timeoutMs: TIMEOUT_MS }, signal);
      if (response.kind !== "response") return { ok: false, detail: response.reason };
      const { username } = response.json ?? {};
      if (response.status === 200 && typeof username === "string") {
        return {
          ok: true,
          detail: `${username === "*" ? "it publishes anonymously" : `publishes as ${excerpt(username)}`}${
            settings.answers ? "; with buttons" : ""
          }`,
        };
      }
      const result = classifyResponse(response);
      return { ok: false, detail: "reason" in result ? result.reason : "ntfy's answer contains no account." };
    },
  };
}

/** Returns a text on one line, encoded as RFC 2047 asks for headers. ntfy decodes it. */
function headerText(text: string): string {
  const line = text.replace(/\s+/g, " ").trim().slice(0, MAX_TITLE_CHARS).toWellFormed();
  return /^[\x20-\x7e]*$/.test(line) ? line : `=?UTF-8?B?${Buffer.from(line).toString("base64")}?=`;
}

/** Returns the header with the buttons of a message. It is JSON in ASCII, since other characters are not allowed in headers. */
function actionsOf(buttons: readonly MessageButton[], publicUrl: string): string {
  const actions = buttons.map((button) =>
    "url" in button
      ? { action: "view", label: button.label, url: button.url }
      : { action: "http", label: button.label, url: pressUrl(publicUrl, button.press), method: "POST", clear: true },
  );
  return JSON.stringify(actions).replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** Codes about the topic: every message to it fails. */
const TOPIC_CODES: Readonly<Record<number, string>> = {
  40009: "the topic name is not valid",
  40010: "the topic name is not allowed",
  40301: "the token is not allowed to publish to this topic",
};

/** Codes about the message: a longer one than the server takes becomes an attachment, which may be off or too large. */
const CONTENT_CODES: Readonly<Record<number, string>> = {
  40011: "the text was rejected",
  40014: "the message is too long",
  41301: "the message is too long",
};

/**
 * Classifies a response of ntfy. The reason shows only ntfy's code: with another server, its text may quote the message.
 * Source: server/errors.go of ntfy
 */
function classifyResponse(response: ApiResponse): Failure | { readonly kind: "sent"; readonly id: string } {
  const { status, json } = response;
  const id = json?.id;
  if (status === 200 && typeof id === "string" && id !== "" && json.event === "message") return { kind: "sent", id };
  const code: number | undefined = Number.isSafeInteger(json?.code) ? json.code : undefined;
  const failure = classifyStatus("ntfy", response, code);
  if (code === undefined || status < 400) return failure;
  const because = (words: string) => `${describeResponse("ntfy", status, code)}: ${words}.`;
  const aboutTopic = TOPIC_CODES[code];
  if (aboutTopic) return { kind: "gone", reason: because(aboutTopic) };
  const aboutContent = CONTENT_CODES[code];
  return aboutContent ? { kind: "content", reason: because(aboutContent) } : failure;
}
